import { useEffect } from "react";
import { OverviewChangedDocument, type OverviewChangedSubscription, OverviewDocument } from "@/gql/graphql";
import { ApiError, gql } from "@/lib/gql";
import { Store, useStore } from "@/lib/store";
import { connection, watch } from "@/lib/ws";
import { paused } from "@/ui/Live";

type Overview = OverviewChangedSubscription["overview"];

/** How everything stands: for the overview, and for the numbers beside the places that need a person. */
export const latestOverview = new Store<{ overview?: Overview; error?: ApiError; isAsked?: boolean }>({});

/** How often it is asked for while no connection tells of it. */
export const ASK_MS = 5_000;

/** Grows with each wish to try again. */
const tries = new Store(0);

export function retryOverview() {
  tries.set(tries.get() + 1);
}

/** Keeps it up to date on every page, which also keeps the connection open that tells whether the page is live. */
export function useLiveOverview() {
  const isPaused = useStore(paused);
  const attempt = useStore(tries);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `attempt` is the wish to try again
  useEffect(() => {
    if (isPaused) return;
    return watch(
      OverviewChangedDocument,
      {},
      {
        next: ({ overview }) => latestOverview.set({ overview }),
        error: (error) => {
          // What is asked for goes on without a connection.
          if (!latestOverview.get().isAsked) latestOverview.set({ ...latestOverview.get(), error });
        },
      },
    );
  }, [isPaused, attempt]);
  const isCutOff = useStore(connection) !== "live";
  useEffect(() => {
    if (isPaused || !isCutOff) return;
    const abort = new AbortController();
    const ask = () =>
      gql(OverviewDocument, {}, abort.signal).then(
        ({ overview }) => latestOverview.set({ overview, isAsked: true }),
        (error) => {
          if (error instanceof ApiError) latestOverview.set({ ...latestOverview.get(), error });
        },
      );
    // Not at once: most connections are back before that.
    const timer = setInterval(() => void ask(), ASK_MS);
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }, [isPaused, isCutOff]);
}

/** How many things at a place wait for a person, and what they are called. */
export function needsPerson(
  overview: Overview | undefined,
  place: string,
): { count: number; status: string } | undefined {
  if (!overview) return undefined;
  const of = (counts: Overview["outbox"], status: string) => ({
    status,
    count: counts.find((one) => one.status === status)?.count.value ?? 0,
  });
  if (place === "outbox") return of(overview.outbox, "DEAD_LETTERED");
  if (place === "refunds") return of(overview.refunds, "FAILED");
  if (place === "chargeJobs") return of(overview.chargeJobs, "FAILED");
  if (place === "deadLetters") return { status: "OPEN", count: overview.openDeadLetters };
  return undefined;
}
