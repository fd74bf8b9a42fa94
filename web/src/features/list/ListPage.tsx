import { Link, useNavigate, useRouterState } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight, ChevronsLeft, TriangleAlert } from "lucide-react";
import { useRef } from "react";
import { useT } from "@/i18n";
import { useHotkeys } from "@/lib/hotkeys";
import type { Row, Shown } from "@/lib/list";
import { count } from "@/lib/money";
import { useSettings } from "@/lib/settings";
import { Fresh, LiveIndicator, PauseButton, paused } from "@/ui/Live";
import { EmptyState, ErrorState, StaleNotice } from "@/ui/Messages";
import { PageTitle } from "@/ui/PageTitle";
import { showWhole } from "@/ui/whole";
import { useZoneTitle } from "@/ui/zone";
import { FilterBar, shownColumns } from "./FilterBar";
import { usePlace } from "./place";
import { strangers } from "./search";
import { chosen, type ListSearch, type ListSpec, PAGE_SIZE, statusesOf, unknownOf, words } from "./spec";
import { useLiveList } from "./useLiveList";

/** A filtered list; everything that it shows stands in its address. */
export function ListPage<R extends Row>({ spec, search }: { spec: ListSpec<R>; search: ListSearch }) {
  const t = useT();
  const { locale } = useSettings();
  const navigate = useNavigate();
  const list = useLiveList(spec, search);
  const input = useRef<HTMLInputElement>(null);
  const table = useRef<HTMLDivElement>(null);
  const { shown } = list;
  usePlace(table, list.page);

  const change = (changed: ListSearch, isTyping = false) => {
    // Another filter begins at the newest page; columns have nothing to do with it.
    const cursor = "cols" in changed ? {} : { after: undefined, before: undefined };
    void navigate({
      to: spec.path,
      search: (known: object) => ({ ...known, ...cursor, ...changed }) as never,
      replace: isTyping,
    });
  };
  const clear = () =>
    change(
      Object.fromEntries(
        ["status", "from", "to", "range", ...[...spec.texts, ...(spec.choices ?? [])].map(({ key }) => key)].map(
          (key) => [key, undefined],
        ),
      ),
    );
  const step = (by: number) => {
    const links = [...(table.current?.querySelectorAll<HTMLAnchorElement>("a[data-row]") ?? [])];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    links[Math.max(0, Math.min(links.length - 1, at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by))]?.focus();
  };
  useHotkeys({
    Slash: () => input.current?.focus(),
    KeyJ: () => step(1),
    KeyK: () => step(-1),
    KeyP: () => paused.set(!paused.get()),
  });

  const counted = list.count ? count(list.count.value, locale, list.count.precision) : undefined;
  return (
    <>
      <PageTitle title={spec.title(t)} note={counted && t.counted[spec.key](counted)}>
        <Fresh count={shown?.fresh ?? 0} more={(shown?.fresh ?? 0) >= PAGE_SIZE} show={list.show} />
        {spec.header ? <spec.header /> : null}
        <LiveIndicator />
        <PauseButton />
      </PageTitle>
      <FilterBar spec={spec} search={search} change={change} input={input} />
      <Unknown spec={spec} search={search} change={change} />
      {list.error && !shown ? (
        <ErrorState error={list.error} retry={list.retry}>
          {search.after || search.before ? (
            <button type="button" className="button" onClick={() => change({ after: undefined, before: undefined })}>
              <ChevronsLeft size={13} aria-hidden="true" />
              {t.list.newest}
            </button>
          ) : null}
        </ErrorState>
      ) : null}
      <div ref={table} className="min-h-0 flex-1 overflow-auto" aria-busy={!shown || list.isOld}>
        {shown || !list.error ? (
          <Table spec={spec} search={search} shown={shown} isOld={list.isOld} clear={clear} />
        ) : null}
      </div>
      {/* Beneath the rows, which stay where they are. */}
      {list.error && shown ? <StaleNotice error={list.error} retry={list.retry} /> : null}
      <Pages spec={spec} shown={shown} search={search} />
    </>
  );
}

/** What the address asks for and does not get, so that nobody takes all rows for those. */
function Unknown<R extends Row>({
  spec,
  search,
  change,
}: {
  spec: ListSpec<R>;
  search: ListSearch;
  change: (change: ListSearch) => void;
}) {
  const t = useT();
  const address = useRouterState({ select: ({ location }) => location.searchStr });
  const fields = [...spec.texts, ...(spec.choices ?? [])].map(({ key }) => key);
  const unknown = [...unknownOf(spec, search), ...strangers(address, fields)];
  if (unknown.length === 0) return null;
  const forget = () => {
    const isUnknown = (key: string, value: string) => unknown.some((one) => one.key === key && one.value === value);
    const without = (key: string) =>
      isUnknown(key, search[key] ?? "") ? [] : words(search[key]).filter((value) => !isUnknown(key, value));
    change(Object.fromEntries(unknown.map(({ key }) => [key, without(key).join(",") || undefined])));
  };
  return (
    <div role="alert" className="flex items-center gap-3 border-b border-line bg-warn-ground px-4 py-1.5 text-warn">
      <TriangleAlert size={15} className="shrink-0" aria-hidden="true" />
      <p className="min-w-0 flex-1 wrap-anywhere">
        {t.list.unknown(unknown.map(({ key, value }) => `${key}=${value.slice(0, 60)}`).join(", "))}
      </p>
      <button type="button" className="button" onClick={forget}>
        {t.list.forget}
      </button>
    </div>
  );
}

interface TableProps<R extends Row> {
  spec: ListSpec<R>;
  search: ListSearch;
  shown: Shown<R> | undefined;
  isOld: boolean;
  clear: () => void;
}

function Table<R extends Row>({ spec, search, shown, isOld, clear }: TableProps<R>) {
  const t = useT();
  const columns = shownColumns(spec, search);
  const zoneTitle = useZoneTitle();
  if (shown && shown.rows.length === 0 && !isOld) {
    const filter = [
      ...statusesOf(spec, search).map((status) => t.status[status] ?? status),
      ...(spec.choices ?? []).flatMap(({ key, values, label, name }) => {
        const value = chosen(values, search, key);
        return value ? [`${label(t)} ${name(t, value)}`] : [];
      }),
      ...spec.texts.filter(({ key }) => search[key]).map(({ key, label }) => `${label(t)} ${search[key]}`),
      ...(spec.hasRange && (search.range || search.from || search.to)
        ? [t.list.ranges[(search.range ?? "custom") as keyof typeof t.list.ranges] ?? t.list.range]
        : []),
    ];
    if (filter.length === 0) return <EmptyState>{t.list.empty(t.things[spec.key])}</EmptyState>;
    const action = (
      <button type="button" className="button" onClick={clear}>
        {t.list.clear}
      </button>
    );
    return (
      <EmptyState action={action}>
        {t.list.emptyFiltered(filter.join(" · "))}
        {spec.elsewhere ? <spec.elsewhere search={search} /> : null}
      </EmptyState>
    );
  }
  return (
    <table className="table">
      <thead>
        <tr>
          {columns.map((column) => (
            <th
              key={column.key}
              scope="col"
              className={column.align === "right" ? "text-right!" : ""}
              title={column.key.endsWith("At") ? zoneTitle : undefined}
            >
              {column.label(t)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody onPointerMove={showWhole}>
        {shown
          ? shown.rows.map((row) => {
              const isGone = shown.gone.has(row.id);
              return (
                <tr key={row.id} className="relative" data-gone={isGone} title={isGone ? t.list.gone : undefined}>
                  {columns.map((column, index) => (
                    <td
                      key={column.key}
                      className={`${column.align === "right" ? "text-right" : ""} ${column.className ?? ""}`}
                    >
                      {index === 0 ? (
                        <Link
                          to={`${spec.path}/$id` as never}
                          params={{ id: row.id } as never}
                          data-row={row.id}
                          aria-label={`${t.thing[spec.of as keyof typeof t.thing]} ${row.id}`}
                          className="link mono after:absolute after:inset-0"
                        >
                          {column.cell(row)}
                        </Link>
                      ) : column.className === "wrap" ? (
                        <div className="line-clamp-2">{column.cell(row)}</div>
                      ) : (
                        column.cell(row)
                      )}
                    </td>
                  ))}
                </tr>
              );
            })
          : Array.from({ length: 12 }, (_, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: placeholders are all the same
              <tr key={index}>
                {columns.map((column) => (
                  <td key={column.key}>
                    <div className={`skeleton w-3/5 ${column.align === "right" ? "ml-auto" : ""}`} />
                  </td>
                ))}
              </tr>
            ))}
      </tbody>
    </table>
  );
}

function Pages<R extends Row>({
  spec,
  shown,
  search,
}: {
  spec: ListSpec<R>;
  shown: Shown<R> | undefined;
  search: ListSearch;
}) {
  const t = useT();
  const info = shown?.pageInfo;
  const isNewest = !search.after && !search.before;
  const at = (cursor: ListSearch) =>
    ((known: object) => ({ ...known, after: undefined, before: undefined, ...cursor })) as never;
  if (!info || (isNewest && !info.hasNextPage)) return null;
  return (
    <nav aria-label={t.list.pageOf} className="flex items-center gap-2 border-t border-line px-4 py-1.5">
      {isNewest ? null : (
        <Link to={spec.path} search={at({})} className="button">
          <ChevronsLeft size={13} aria-hidden="true" />
          {t.list.newest}
        </Link>
      )}
      {!isNewest && info.hasPreviousPage && info.startCursor ? (
        <Link to={spec.path} search={at({ before: info.startCursor })} className="button">
          <ChevronLeft size={13} aria-hidden="true" />
          {t.list.newer}
        </Link>
      ) : null}
      {info.hasNextPage && info.endCursor ? (
        <Link to={spec.path} search={at({ after: info.endCursor })} className="button">
          {t.list.older}
          <ChevronRight size={13} aria-hidden="true" />
        </Link>
      ) : null}
    </nav>
  );
}
