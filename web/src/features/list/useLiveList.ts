import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { serverNow } from "@/lib/clock";
import { gql } from "@/lib/gql";
import { firstShown, type Row, refreshed, type Shown } from "@/lib/list";
import { useStore } from "@/lib/store";
import { paused } from "@/ui/Live";
import { createdWithin, type ListSearch, type ListSpec, pageVariables } from "./spec";

/** How often a list looks whether something has changed. */
const REFRESH_MS = 3_000;

/** A list that is kept up to date and never moves under the reader. */
export function useLiveList<R extends Row>(spec: ListSpec<R>, search: ListSearch) {
  const isPaused = useStore(paused);
  const { cols: _, ...asked } = search;
  const key = JSON.stringify(asked);
  const query = useQuery({
    queryKey: [spec.key, "page", asked],
    queryFn: ({ signal }) =>
      gql(spec.page, { ...pageVariables(search), ...spec.filter(search, createdWithin(search, serverNow())) }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: isPaused ? false : REFRESH_MS,
    refetchOnWindowFocus: !isPaused,
  });
  const { after: _after, before: _before, ...filtered } = asked;
  const count = useQuery({
    queryKey: [spec.key, "count", filtered],
    queryFn: ({ signal }) => gql(spec.count, spec.filter(search, createdWithin(search, serverNow())), signal),
    placeholderData: keepPreviousData,
    refetchInterval: isPaused ? false : 10 * REFRESH_MS,
    refetchOnWindowFocus: false,
  });

  const [state, setState] = useState<{ key: string; shown: Shown<R> }>();
  const latest = query.isPlaceholderData ? undefined : query.data?.page;
  useEffect(() => {
    if (!latest) return;
    setState((known) => ({ key, shown: known?.key === key ? refreshed(known.shown, latest) : firstShown(latest) }));
  }, [latest, key]);

  return {
    shown: state?.shown,
    /** Which page of which filter that is. */
    page: state?.key,
    /** Whether what is shown belongs to another filter: it stays until the new rows are there. */
    isOld: state !== undefined && state.key !== key,
    error: query.error,
    retry: () => void query.refetch(),
    count: count.isPlaceholderData ? undefined : count.data?.page.count,
    show: () => latest && setState({ key, shown: firstShown(latest) }),
  };
}
