import { type FailureRowFragment, FailuresLiveDocument, type FailuresLiveSubscription } from "@/gql/graphql";
import type { ApiError } from "./gql";
import { Store } from "./store";
import { watch } from "./ws";

/** Rows that are kept; older ones are in the list. */
export const RING = 200;
/** Rows are collected and shown together: at any rate, five times a second. */
const FLUSH_MS = 200;

export interface Feed {
  /** Newest first. */
  rows: FailureRowFragment[];
  /** Held back while the reader does not want anything to move; newest first. */
  held: FailureRowFragment[];
  /** How many came while held back, beyond what the ring keeps. */
  waiting: number;
  error: ApiError | undefined;
}

/** The live failures: from the newest ones that are known on, without a gap, over as many connections as it takes. */
export class FailureFeed {
  readonly state = new Store<Feed>({ rows: [], held: [], waiting: 0, error: undefined });
  #cursor: string;
  #stop: (() => void) | undefined;
  #buffer: FailureRowFragment[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isHeld = false;
  #open: typeof watch;

  constructor(newest: FailureRowFragment[], open: typeof watch = watch) {
    this.#open = open;
    this.#cursor = newest[0]?.cursor ?? "0";
    this.state.set({ ...this.state.get(), rows: newest.slice(0, RING) });
  }

  start() {
    const feed = this;
    const variables = {
      get after() {
        return feed.#cursor;
      },
    };
    this.#stop = this.#open(FailuresLiveDocument, variables, {
      next: (data) => this.#take(data),
      error: (error) => this.state.set({ ...this.state.get(), error }),
    });
  }

  stop() {
    this.#stop?.();
    this.#stop = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Goes on from the last one that came. */
  restart() {
    this.#stop?.();
    this.state.set({ ...this.state.get(), error: undefined });
    this.start();
  }

  /** While held, nothing that is shown moves. */
  hold(isHeld: boolean) {
    this.#isHeld = isHeld;
    if (!isHeld) this.show();
  }

  /** Shows what was held back. */
  show() {
    const { rows, held, error } = this.state.get();
    if (held.length > 0) this.state.set({ rows: [...held, ...rows].slice(0, RING), held: [], waiting: 0, error });
  }

  #take({ failures: { failure, lagged } }: FailuresLiveSubscription) {
    if (lagged) {
      // Cut off for being slow: what was missed is replayed from the cursor.
      this.restart();
      return;
    }
    if (!failure) return;
    this.#cursor = failure.cursor;
    this.#buffer.push(failure);
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
  }

  #flush() {
    this.#timer = undefined;
    const fresh = this.#buffer.reverse();
    this.#buffer = [];
    const { rows, held, waiting } = this.state.get();
    if (this.#isHeld) {
      this.state.set({
        rows,
        held: [...fresh, ...held].slice(0, RING),
        waiting: waiting + fresh.length,
        error: undefined,
      });
    } else {
      this.state.set({ rows: [...fresh, ...rows].slice(0, RING), held: [], waiting: 0, error: undefined });
    }
  }
}
