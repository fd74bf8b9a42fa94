import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import type { ReactNode } from "react";
import type { CallFragment, FailureRowFragment } from "@/gql/graphql";
import { useT } from "@/i18n";
import { useHotkeys } from "@/lib/hotkeys";
import { duration } from "@/lib/time";
import { CopyId } from "@/ui/CopyId";
import { LiveIndicator, PauseButton, paused } from "@/ui/Live";
import { EmptyState, ErrorState, StaleNotice } from "@/ui/Messages";
import { PageTitle } from "@/ui/PageTitle";
import { StatusChip } from "@/ui/StatusChip";
import type { Of } from "@/ui/status";
import { Time } from "@/ui/Time";

interface DetailProps<R> {
  query: UseQueryResult<R | null>;
  id: string;
  list: { path: string; title: string };
  thing: string;
  of: Of;
  /** Its state, unless that is `status`. */
  state?: (row: R) => string | undefined;
  children: (row: NonNullable<R>) => { main: ReactNode; side: ReactNode };
}

/** A page about one row. */
export function Detail<R extends object>({ query, id, list, thing, of, state, children }: DetailProps<R>) {
  const t = useT();
  const row = query.data;
  const status = row ? (state ? state(row) : (row as { status?: string }).status) : undefined;
  const parts = row ? children(row) : undefined;
  const retry = () => void query.refetch();
  useHotkeys({ KeyP: () => paused.set(!paused.get()) });
  return (
    <>
      <PageTitle
        title={`${thing} ${id}`}
        back={
          <Link
            to={list.path as never}
            className="button size-7! p-0!"
            data-kind="quiet"
            aria-label={t.detail.back(list.title)}
            title={t.detail.back(list.title)}
          >
            <ArrowLeft size={15} aria-hidden="true" />
          </Link>
        }
      >
        {status ? <StatusChip status={status} of={of} /> : null}
        <LiveIndicator />
        <PauseButton />
      </PageTitle>
      <div className="min-h-0 flex-1 overflow-auto bg-ground-2 p-3" aria-busy={query.isPending}>
        {query.error && !row ? <ErrorState error={query.error} retry={retry} /> : null}
        {row === null ? <EmptyState>{t.error.missing(thing, id)}</EmptyState> : null}
        {parts ? (
          <div className="grid gap-3 2xl:grid-cols-[minmax(0,1fr)_440px] xl:grid-cols-[minmax(0,1fr)_380px] lg:grid-cols-[minmax(0,1fr)_320px]">
            <div className="min-w-0 space-y-3">{parts.main}</div>
            <div className="min-w-0 space-y-3">{parts.side}</div>
          </div>
        ) : null}
        {query.isPending ? (
          <div className="panel space-y-3 p-4" aria-hidden="true">
            <div className="skeleton w-1/3" />
            <div className="skeleton w-1/2" />
            <div className="skeleton w-2/5" />
          </div>
        ) : null}
      </div>
      {query.error && row ? <StaleNotice error={query.error} retry={retry} /> : null}
    </>
  );
}

export function Panel({ title, note, children }: { title: string; note?: string | undefined; children: ReactNode }) {
  return (
    <section className="panel">
      <h2>
        {title}
        {note ? <span className="ml-2 font-normal">{note}</span> : null}
      </h2>
      {children}
    </section>
  );
}

/** What is known, name by name. Nothing is said of what is not there. */
export function Facts({ facts }: { facts: [string, ReactNode][] }) {
  return (
    <dl className="grid grid-cols-[minmax(96px,max-content)_minmax(0,1fr)] gap-x-4 gap-y-1.5 p-3">
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== "")
        .map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-ink-2">{name}</dt>
            <dd className="min-w-0">{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export function Nothing() {
  const t = useT();
  return <p className="p-3 text-ink-2">{t.detail.none}</p>;
}

export function Calls({ calls }: { calls: CallFragment[] }) {
  const t = useT();
  if (calls.length === 0) return <Nothing />;
  return (
    <Scroll label={t.detail.calls}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{t.field.at}</th>
            <th scope="col">{t.field.operation}</th>
            <th scope="col">{t.field.outcome}</th>
            <th scope="col">{t.field.code}</th>
            <th scope="col" className="text-right!">
              {t.field.took}
            </th>
            <th scope="col">{t.field.key}</th>
          </tr>
        </thead>
        <tbody>
          {calls.map((call) => (
            <tr key={`${call.at} ${call.operation} ${call.idempotencyKey}`}>
              <td>
                <Time at={call.at} />
              </td>
              <td className="mono">{`${call.provider} ${call.operation}`}</td>
              <td>
                <StatusChip status={call.outcome} of="call" />
              </td>
              <td className="mono">{call.code}</td>
              <td className="text-right">{duration(call.durationMs)}</td>
              <td className="w-full max-w-0">
                <CopyId id={call.idempotencyKey} what={t.field.key} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Scrolls sideways within a panel, by keyboard too. */
export function Scroll({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="overflow-x-auto" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

export function Failures({ failures }: { failures: FailureRowFragment[] }) {
  const t = useT();
  if (failures.length === 0) return <Nothing />;
  return (
    <ul className="divide-y divide-line">
      {failures.map((failure) => (
        <li key={failure.id} className="px-3 py-2">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <StatusChip status={failure.severity} of="failure" />
            <span className="font-medium">{t.kind[failure.kind]}</span>
            <span className="mono">{failure.code}</span>
            <Time at={failure.occurredAt} className="ml-auto text-xs text-ink-2" />
          </div>
          <p className="mt-0.5 text-ink-2">{failure.message}</p>
        </li>
      ))}
    </ul>
  );
}

interface Related {
  id: string;
  status: string;
  createdAt: string;
}

/** Rows of another table that belong to this one. */
export function RelatedRows<R extends Related>({
  rows,
  to,
  of,
  label,
}: {
  rows: R[];
  to: string;
  of: Of;
  label: (row: R) => string;
}) {
  if (rows.length === 0) return <Nothing />;
  return (
    <ul className="divide-y divide-line">
      {rows.map((row) => (
        <li key={row.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
          <Link to={`${to}/$id` as never} params={{ id: row.id } as never} className="link">
            {label(row)}
          </Link>
          <StatusChip status={row.status} of={of} />
          <Time at={row.createdAt} className="ml-auto text-xs text-ink-2" />
        </li>
      ))}
    </ul>
  );
}
