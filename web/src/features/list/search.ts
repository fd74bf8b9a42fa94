import * as v from "valibot";

/** The state of a list as its address has it: texts alone, so that it is short and can be typed. */
export type ListSearch = Record<string, string | undefined> & {
  status?: string;
  from?: string;
  to?: string;
  range?: string;
  after?: string;
  before?: string;
  cols?: string;
};

/** What every list's address may name, beside its own fields; the zone is every page's. */
const NAMES = ["status", "from", "to", "range", "after", "before", "cols", "tz"];

/** What an address names that no list with these fields knows, such as a misspelt one. */
export function strangers(text: string, fields: readonly string[]): { key: string; value: string }[] {
  return [...new URLSearchParams(text)]
    .filter(([key, value]) => value !== "" && !NAMES.includes(key) && !fields.includes(key))
    .map(([key, value]) => ({ key, value }));
}

/** Reads an address: what the list does not know is dropped, and told. */
export function listSearch(texts: readonly string[]) {
  const text = v.fallback(v.optional(v.string()), undefined);
  const names = NAMES.filter((name) => name !== "tz");
  return v.object(Object.fromEntries([...names, ...texts].map((name) => [name, text])));
}
