import { useEffect } from "react";
import { OverviewChangedDocument, type OverviewChangedSubscription } from "@/gql/graphql";
import type { ApiError } from "@/lib/gql";
import { Store, useStore } from "@/lib/store";
import { watch } from "@/lib/ws";
import { paused } from "@/ui/Live";

type Overview = OverviewChangedSubscription["overview"];

/** How everything stands: for the overview, and for the numbers beside the places that need a person. */
export const latestOverview = new Store<{ overview?: Overview; error?: ApiError }>({});

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
        error: (error) => latestOverview.set({ ...latestOverview.get(), error }),
      },
    );
  }, [isPaused, attempt]);
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
