import type { ComponentType, ReactNode } from "react";
import type { TypedDocumentString } from "@/gql/graphql";
import type { Dictionary } from "@/i18n/en";
import type { PageOf, Row } from "@/lib/list";
import type { Of } from "@/ui/status";
import type { ListSearch } from "./search";

export type { ListSearch };

export interface Column<R> {
  key: string;
  label: (t: Dictionary) => string;
  cell: (row: R) => ReactNode;
  /** Not shown unless asked for. */
  isExtra?: boolean;
  align?: "right";
  /** A class for the cell: how wide it may get. */
  className?: string;
}

export type RangeKey = "15m" | "1h" | "24h" | "7d";

export const RANGES: Record<RangeKey, number> = {
  "15m": 15 * 60_000,
  "1h": 3_600_000,
  "24h": 86_400_000,
  "7d": 7 * 86_400_000,
};

/** A field that has few values, of which one may be chosen. */
export interface Choice {
  key: string;
  label: (t: Dictionary) => string;
  values: readonly string[];
  name: (t: Dictionary, value: string) => string;
}

type PageVariables = { first?: number | null; after?: string | null; last?: number | null; before?: string | null };

/** What makes one list different from another. */
export interface ListSpec<R extends Row> {
  key: "payments" | "refunds" | "events" | "deadLetters" | "charges" | "chargeJobs" | "promotions";
  path: "/payments" | "/refunds" | "/outbox" | "/dead-letters" | "/charges" | "/charge-jobs" | "/promotions";
  title: (t: Dictionary) => string;
  of: Of;
  statuses: readonly string[];
  /** Fields that can be searched by, each with its label. */
  texts: readonly { key: string; label: (t: Dictionary) => string }[];
  choices?: readonly Choice[];
  hasRange: boolean;
  /** What stands beside the title: what concerns the list as a whole. */
  header?: ComponentType;
  /** Where else what was looked for may be. */
  elsewhere?: ComponentType<{ search: ListSearch }>;
  columns: Column<R>[];
  // The documents of different lists have variables of different types; `filter` makes those that fit.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  page: TypedDocumentString<{ page: PageOf<R> }, any>;
  // biome-ignore lint/suspicious/noExplicitAny: see above
  count: TypedDocumentString<{ page: { count: { value: number; precision: "EXACT" | "AT_LEAST" } } }, any>;
  filter: (search: ListSearch, created: { from?: string; to?: string } | undefined) => object;
}

export const PAGE_SIZE = 50;

/** Which page the address asks for. */
export function pageVariables({ after, before }: ListSearch): PageVariables {
  if (before) return { last: PAGE_SIZE, before };
  return { first: PAGE_SIZE, after };
}

/** Whether a text is a day of the calendar, or a moment on one, as the address has it. */
export function isMoment(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})(T|$)/.exec(text) ?? [];
  if (Number.isNaN(Date.parse(text))) return false;
  return new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
}

/**
 * The stretch of time that the address asks for, its bounds before its range, as the filter shows it; one that ends now is
 * cut to whole minutes, so that it can be kept.
 */
export function createdWithin(
  { from, to, range }: ListSearch,
  now: number,
): { from?: string; to?: string } | undefined {
  const valid = (text: string | undefined) => (text && isMoment(text) ? text : undefined);
  const bounds = { from: valid(from), to: valid(to) };
  if (bounds.from || bounds.to) return bounds;
  const millis = Object.hasOwn(RANGES, range ?? "") ? RANGES[range as RangeKey] : undefined;
  return millis ? { from: new Date(Math.floor((now - millis) / 60_000) * 60_000).toISOString() } : undefined;
}

export function words(text: string | undefined): string[] {
  return text ? text.split(",").filter((word) => word !== "") : [];
}

/** The value of an address that the choice has. */
export function chosen<T extends string>(values: readonly T[], search: ListSearch, key: string): T | undefined {
  return values.find((value) => value === search[key]);
}

/** What an address asks for that the list does not know, and so does not do. */
export function unknownOf<R extends Row>(
  spec: Pick<ListSpec<R>, "statuses" | "choices" | "columns" | "hasRange">,
  search: ListSearch,
): { key: string; value: string }[] {
  const asked = (key: string, isKnown: (value: string) => boolean) => {
    const text = search[key] ?? "";
    const values = words(text);
    // What has no word in it is asked for all the same.
    return (values.length > 0 || text === "" ? values : [text])
      .filter((value) => !isKnown(value))
      .map((value) => ({ key, value }));
  };
  /** One value, and not several. */
  const askedOnce = (key: string, isKnown: (value: string) => boolean) => {
    const value = search[key] ?? "";
    return value === "" || isKnown(value) ? [] : [{ key, value }];
  };
  const isTime = (value: string) => spec.hasRange && isMoment(value);
  return [
    ...asked("status", (value) => spec.statuses.includes(value)),
    ...(spec.choices ?? []).flatMap(({ key, values }) => askedOnce(key, (value) => values.includes(value))),
    ...askedOnce("range", (value) => spec.hasRange && Object.hasOwn(RANGES, value)),
    ...askedOnce("from", isTime),
    ...askedOnce("to", isTime),
    ...asked("cols", (value) => spec.columns.some(({ key }) => key === value)),
  ];
}

/** The states of an address that the list knows. */
export function statusesOf<R extends Row>(spec: Pick<ListSpec<R>, "statuses">, search: ListSearch): string[] {
  return words(search.status).filter((status) => spec.statuses.includes(status));
}
