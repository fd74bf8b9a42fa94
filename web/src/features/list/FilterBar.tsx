import { Popover } from "@base-ui/react/popover";
import { Columns3, X } from "lucide-react";
import { type FormEvent, type RefObject, useId, useState } from "react";
import { useT } from "@/i18n";
import type { Row } from "@/lib/list";
import { fromLocalInput, toLocalInput } from "@/lib/time";
import { lookOf } from "@/ui/status";
import { useZone } from "@/ui/zone";
import { chosen, type ListSearch, type ListSpec, RANGES, statusesOf, words } from "./spec";

interface Props<R extends Row> {
  spec: ListSpec<R>;
  search: ListSearch;
  /** Narrows the list; what is still being typed makes no step of its own in the history. */
  change: (change: ListSearch, isTyping?: boolean) => void;
  input: RefObject<HTMLInputElement | null>;
}

/** What the list is narrowed to; all of it stands in the address. */
export function FilterBar<R extends Row>({ spec, search, change, input }: Props<R>) {
  const t = useT();
  const statuses = statusesOf(spec, search);
  const toggle = (status: string) => {
    const next = statuses.includes(status) ? statuses.filter((one) => one !== status) : [...statuses, status];
    change({ status: next.join(",") || undefined });
  };
  const active = spec.texts.filter(({ key }) => search[key]);
  return (
    <search className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
      {spec.statuses.length > 0 ? (
        <fieldset className="flex flex-wrap gap-1">
          <legend className="sr-only">{t.list.status}</legend>
          <button
            type="button"
            className="button"
            aria-pressed={statuses.length === 0}
            onClick={() => change({ status: undefined })}
          >
            {t.list.any}
          </button>
          {spec.statuses.map((status) => {
            const { icon: Icon } = lookOf(status, spec.of);
            return (
              <button
                key={status}
                type="button"
                className="button"
                aria-pressed={statuses.includes(status)}
                onClick={() => toggle(status)}
              >
                <Icon size={12} aria-hidden="true" />
                {t.status[status]}
              </button>
            );
          })}
        </fieldset>
      ) : null}
      {spec.choices?.map(({ key, label, values, name }) => (
        <select
          key={key}
          className="field"
          aria-label={label(t)}
          value={chosen(values, search, key) ?? ""}
          onChange={(event) => change({ [key]: event.target.value || undefined })}
        >
          <option value="">{`${label(t)}: ${t.list.any}`}</option>
          {values.map((value) => (
            <option key={value} value={value}>
              {name(t, value)}
            </option>
          ))}
        </select>
      ))}
      {spec.texts.length > 0 ? <TextFilter spec={spec} change={change} input={input} /> : null}
      {active.map(({ key, label }) => (
        <span key={key} className="inline-flex h-7 items-center gap-1 rounded-md bg-accent-ground pl-2 text-accent">
          {label(t)} <span className="mono">{search[key]}</span>
          <button
            type="button"
            className="inline-flex size-7 items-center justify-center"
            aria-label={t.list.remove(`${label(t)} ${search[key]}`)}
            onClick={() => change({ [key]: undefined })}
          >
            <X size={13} aria-hidden="true" />
          </button>
        </span>
      ))}
      <div className="ml-auto flex flex-wrap gap-2">
        {spec.hasRange ? <Range search={search} change={change} /> : null}
        <ColumnMenu spec={spec} search={search} change={change} />
      </div>
    </search>
  );
}

function TextFilter<R extends Row>({ spec, change, input }: Pick<Props<R>, "spec" | "change" | "input">) {
  const t = useT();
  const [field, setField] = useState(spec.texts[0]?.key ?? "");
  const [value, setValue] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (value.trim() === "") return;
    change({ [field]: value.trim() });
    setValue("");
  };
  return (
    <form onSubmit={submit} className="flex">
      <select
        className="field rounded-r-none! border-r-0!"
        aria-label={t.list.filterBy}
        value={field}
        onChange={(event) => setField(event.target.value)}
      >
        {spec.texts.map(({ key, label }) => (
          <option key={key} value={key}>
            {label(t)}
          </option>
        ))}
      </select>
      <input
        ref={input}
        className="field w-44 rounded-l-none!"
        aria-label={t.list.value}
        aria-keyshortcuts="/"
        placeholder={`${t.list.filter}  /`}
        value={value}
        onChange={(event) => setValue(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
    </form>
  );
}

function Range<R extends Row>({ search, change }: Pick<Props<R>, "search" | "change">) {
  const t = useT();
  const zone = useZone();
  const [isCustom, setCustom] = useState(Boolean(search.from || search.to));
  const [had, setHad] = useState(isCustom);
  const ids = { from: useId(), to: useId() };
  // Cleared from elsewhere, it is no range any more.
  const has = Boolean(search.from || search.to);
  if (had !== has) {
    setHad(has);
    if (!has && !document.activeElement?.matches("input[type=datetime-local]")) setCustom(false);
  }
  const chosen = search.from || search.to || isCustom ? "custom" : (search.range ?? "all");
  const choose = (value: string) => {
    setCustom(value === "custom");
    if (value !== "custom") change({ range: value === "all" ? undefined : value, from: undefined, to: undefined });
    else change({ range: undefined });
  };
  const bound = (name: "from" | "to") => (
    <label htmlFor={ids[name]} className="flex items-center gap-1">
      <span className="text-ink-2">{t.list[name]}</span>
      <input
        id={ids[name]}
        type="datetime-local"
        className="field"
        value={toLocalInput(search[name], zone)}
        onChange={(event) => change({ [name]: fromLocalInput(event.target.value, zone) }, true)}
      />
    </label>
  );
  return (
    <div className="flex items-center gap-2">
      <select
        className="field"
        aria-label={t.list.range}
        value={chosen}
        onChange={(event) => choose(event.target.value)}
      >
        <option value="all">{t.list.ranges.all}</option>
        {Object.keys(RANGES).map((key) => (
          <option key={key} value={key}>
            {t.list.ranges[key as keyof typeof t.list.ranges]}
          </option>
        ))}
        <option value="custom">{t.list.ranges.custom}</option>
      </select>
      {chosen === "custom" ? (
        <>
          {bound("from")}
          {bound("to")}
        </>
      ) : null}
    </div>
  );
}

/** The columns that are shown: those of the address, or the usual ones. */
export function shownColumns<R extends Row>(spec: ListSpec<R>, search: ListSearch) {
  const asked = words(search.cols);
  return spec.columns.filter(
    (column, index) => index === 0 || (asked.length > 0 ? asked.includes(column.key) : !column.isExtra),
  );
}

function ColumnMenu<R extends Row>({ spec, search, change }: Omit<Props<R>, "input">) {
  const t = useT();
  const shown = new Set(shownColumns(spec, search).map(({ key }) => key));
  const usual = spec.columns.filter((column, index) => index === 0 || !column.isExtra).map(({ key }) => key);
  const toggle = (key: string) => {
    const next = spec.columns
      .map((column) => column.key)
      .filter((one) => (one === key ? !shown.has(one) : shown.has(one)));
    change({ cols: next.join() === usual.join() ? undefined : next.join(",") });
  };
  return (
    <Popover.Root>
      <Popover.Trigger className="button" aria-label={t.list.columns} title={t.list.columns}>
        <Columns3 size={13} aria-hidden="true" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner side="bottom" align="end" sideOffset={4} className="z-30">
          <Popover.Popup className="popup p-2" aria-label={t.list.columns}>
            {spec.columns.slice(1).map((column) => (
              <label key={column.key} className="flex h-7 items-center gap-2 rounded-md px-2 hover:bg-ground-3">
                <input type="checkbox" checked={shown.has(column.key)} onChange={() => toggle(column.key)} />
                {column.label(t)}
              </label>
            ))}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
