import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { TypedDocumentString } from "@/gql/graphql";
import { gql } from "@/lib/gql";
import { useStore } from "@/lib/store";
import { watch } from "@/lib/ws";
import { paused } from "@/ui/Live";

/** How often related rows are looked at. */
const RELATED_MS = 5_000;

/** One row: as it is, then each change, until the reader leaves it or pauses. */
export function useLiveRow<R>(
  key: string,
  id: string,
  load: (id: string, signal: AbortSignal) => Promise<R | null | undefined>,
  changed: TypedDocumentString<{ row: R }, { id: string }>,
) {
  const isPaused = useStore(paused);
  const queries = useQueryClient();
  const query = useQuery({
    queryKey: [key, "row", id],
    queryFn: async ({ signal }) => (await load(id, signal)) ?? null,
    // Its own changes come by themselves; what belongs to it changes without it.
    refetchInterval: isPaused ? false : RELATED_MS,
    refetchOnWindowFocus: !isPaused,
  });
  const isThere = query.data !== null && query.data !== undefined;
  useEffect(() => {
    if (!isThere || isPaused) return;
    return watch(changed, { id }, { next: ({ row }) => queries.setQueryData([key, "row", id], row) });
  }, [isThere, isPaused, id, key, changed, queries]);
  return query;
}

/** One row of a table that has no subscription: looked at every few seconds. */
export function usePolledRow<R>(
  key: string,
  id: string,
  load: (id: string, signal: AbortSignal) => Promise<R | null | undefined>,
) {
  const isPaused = useStore(paused);
  return useQuery({
    queryKey: [key, "row", id],
    queryFn: async ({ signal }) => (await load(id, signal)) ?? null,
    refetchInterval: isPaused ? false : 3_000,
    refetchOnWindowFocus: !isPaused,
  });
}

/** What a mutation's payload says. */
export function outcome(
  result: { userErrors: { code: string; message: string }[] },
  row: { status: string } | null | undefined,
) {
  const refused = result.userErrors[0];
  return { status: row?.status, refused: refused ? { code: refused.code, message: refused.message } : undefined };
}

/** Runs a mutation of the shape that all operators' actions have. */
export async function operate<P>(
  document: TypedDocumentString<{ result: P }, { input: { id: string; reason: string } }>,
  id: string,
  reason: string,
): Promise<P> {
  return (await gql(document, { input: { id, reason } })).result;
}
