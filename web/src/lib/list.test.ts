import { describe, expect, it } from "vitest";
import { firstShown, type PageOf, refreshed } from "./list";

interface Item {
  id: string;
  status: string;
}

function page(ids: number[], more = false, status = "PENDING"): PageOf<Item> {
  const nodes = ids.map((id) => ({ id: String(id), status }));
  return {
    nodes,
    pageInfo: { hasNextPage: more, hasPreviousPage: false, startCursor: nodes[0]?.id, endCursor: nodes.at(-1)?.id },
  };
}

const order = (shown: { rows: Item[] }) => shown.rows.map(({ id }) => Number(id));

describe("what is shown", () => {
  it("keeps its order while newer rows come, which wait", () => {
    const shown = refreshed(firstShown(page([3, 2, 1])), page([5, 4, 3, 2, 1]));
    expect(order(shown)).toEqual([3, 2, 1]);
    expect(shown.fresh).toBe(2);
  });

  it("changes in place", () => {
    const shown = refreshed(firstShown(page([2, 1])), page([2, 1], false, "DONE"));
    expect(shown.rows.every(({ status }) => status === "DONE")).toBe(true);
    expect(shown.fresh).toBe(0);
  });

  it("marks what does not match any more, and nothing that was only pushed off the page", () => {
    const left = refreshed(firstShown(page([4, 3, 2, 1])), page([4, 2, 1]));
    expect([...left.gone]).toEqual(["3"]);
    const pushed = refreshed(firstShown(page([4, 3, 2, 1], true)), page([6, 5, 4, 3], true));
    expect([...pushed.gone]).toEqual([]);
    const both = refreshed(firstShown(page([4, 3, 2, 1], true)), page([5, 4, 2], true));
    expect([...both.gone]).toEqual(["3"]);
    const emptied = refreshed(firstShown(page([2, 1])), page([]));
    expect([...emptied.gone]).toEqual(["2", "1"]);
  });

  it("goes on to the next page from what is shown, not from what is waiting", () => {
    const shown = refreshed(firstShown(page([4, 3], true)), page([6, 5], true));
    expect(shown.pageInfo.endCursor).toBe("3");
  });

  it("shows at once what comes to an empty list", () => {
    expect(order(refreshed(firstShown(page([])), page([1])))).toEqual([1]);
  });
});
