/** A row of a list, by its id. */
export interface Row {
  id: string;
}

/** The part of a page that lists work with. */
export interface PageOf<R extends Row> {
  nodes: R[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor?: string | null; endCursor?: string | null };
}

/** What the reader has before him. It never changes its order by itself. */
export interface Shown<R extends Row> {
  rows: R[];
  /** Rows that the list does not have any more, although they would be on this page. */
  gone: ReadonlySet<string>;
  /** How many came that are not shown. */
  fresh: number;
  pageInfo: PageOf<R>["pageInfo"];
}

export function firstShown<R extends Row>(page: PageOf<R>): Shown<R> {
  return { rows: page.nodes, gone: new Set(), fresh: 0, pageInfo: page.pageInfo };
}

/** Brings what is shown up to date without moving it: rows change in place, new ones wait, lost ones are marked. */
export function refreshed<R extends Row>(shown: Shown<R>, page: PageOf<R>): Shown<R> {
  if (shown.rows.length === 0) return firstShown(page);
  const latest = new Map(page.nodes.map((row) => [row.id, row]));
  const known = new Set(shown.rows.map(({ id }) => id));
  const fresh = page.nodes.filter(({ id }) => !known.has(id)).length;
  // The rows of this page that still are; whatever stands before the last of them and is missing has left the list.
  const lastKept = shown.rows.findLastIndex(({ id }) => latest.has(id));
  const isComplete = !page.pageInfo.hasNextPage;
  const gone = new Set<string>();
  const rows = shown.rows.map((row, index) => {
    const now = latest.get(row.id);
    if (!now && (isComplete || index < lastKept)) gone.add(row.id);
    return now ?? row;
  });
  return {
    rows,
    gone,
    fresh,
    pageInfo: { ...page.pageInfo, endCursor: shown.pageInfo.endCursor, hasNextPage: shown.pageInfo.hasNextPage },
  };
}
