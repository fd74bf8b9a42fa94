import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FailureRowFragment, FailuresLiveSubscription } from "@/gql/graphql";
import { FailureFeed, RING } from "./feed";
import type { watch } from "./ws";

function failure(position: number): FailureRowFragment {
  return {
    id: `f${position}`,
    cursor: String(position),
    kind: "OUTBOX_FAILED",
    severity: "WARNING",
    code: "UNROUTABLE",
    message: "no",
    attempt: 1,
    subjectType: "OUTBOX_EVENT",
    subjectId: "1",
    occurredAt: "2026-12-01T00:00:00Z",
  };
}

/** A server that remembers from where it was asked to go on. */
function server() {
  const asked: unknown[] = [];
  let next: (data: FailuresLiveSubscription) => void = () => {};
  const open = ((_document: unknown, variables: { after: unknown }, on: { next: typeof next }) => {
    asked.push(variables.after);
    next = on.next;
    return () => {};
  }) as unknown as typeof watch;
  const send = (position: number) => next({ failures: { failure: failure(position), lagged: false } });
  return { asked, open, send, lag: () => next({ failures: { failure: null, lagged: true } }) };
}

const positions = (rows: FailureRowFragment[]) => rows.map(({ cursor }) => Number(cursor));

describe("the feed", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("goes on after the newest that is known, and shows what comes together", () => {
    const { asked, open, send } = server();
    const feed = new FailureFeed([failure(7), failure(6)], open);
    feed.start();
    expect(asked).toEqual(["7"]);
    send(8);
    send(9);
    expect(positions(feed.state.get().rows)).toEqual([7, 6]);
    vi.advanceTimersByTime(200);
    expect(positions(feed.state.get().rows)).toEqual([9, 8, 7, 6]);
  });

  it("goes on after its last one when it was cut off for being slow", () => {
    const { asked, open, send, lag } = server();
    const feed = new FailureFeed([], open);
    feed.start();
    send(1);
    send(2);
    lag();
    expect(asked).toEqual(["0", "2"]);
  });

  it("holds back what comes while the reader wants nothing to move, and counts all of it", () => {
    const { open, send } = server();
    const feed = new FailureFeed([failure(1)], open);
    feed.start();
    feed.hold(true);
    for (let n = 2; n <= RING + 50; n += 1) send(n);
    vi.advanceTimersByTime(200);
    expect(positions(feed.state.get().rows)).toEqual([1]);
    expect(feed.state.get().waiting).toBe(RING + 49);
    feed.hold(false);
    expect(feed.state.get().rows).toHaveLength(RING);
    expect(positions(feed.state.get().rows)[0]).toBe(RING + 50);
    expect(feed.state.get().waiting).toBe(0);
  });
});
