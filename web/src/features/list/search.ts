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

/** Reads an address: names that the list does not know are dropped, values that it does not know are told. */
export function listSearch(texts: readonly string[]) {
  const text = v.fallback(v.optional(v.string()), undefined);
  const names = ["status", "from", "to", "range", "after", "before", "cols", ...texts];
  return v.object(Object.fromEntries(names.map((name) => [name, text])));
}
