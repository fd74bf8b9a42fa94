import { expect, it } from "vitest";
import type { PromotionRowFragment } from "@/gql/graphql";
import { draftOf, inputOf, inZone, isLike, rebased } from "./draft";

const spring: PromotionRowFragment = {
  id: "1",
  title: "Spring",
  startAt: "2026-03-01T00:00:00Z",
  endAt: "2026-03-31T14:59:59.123456Z",
  addPercent: 10,
  availableCount: 0,
  isActive: true,
  createdAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-01T00:00:00Z",
};

it("another zone shows the same moments, and they are saved as they were", () => {
  const typed = { ...draftOf(undefined, "Asia/Seoul"), startAt: "2026-11-01T09:00", endAt: "2026-11-02T23:59:59" };
  const moved = inZone(typed, "UTC");
  expect(moved.startAt).toBe("2026-11-01T00:00");
  expect(inputOf(moved, undefined).startAt).toBe(inputOf(typed, undefined).startAt);
  expect(inZone(moved, "Asia/Seoul")).toEqual(typed);
});

it("a time that nobody touched stays to the last digit what it was", () => {
  const renamed = { ...inZone(draftOf(spring, "Asia/Seoul"), "UTC"), title: "Renamed" };
  expect(renamed.endAt).toBe("2026-03-31T14:59:59.123");
  expect(inputOf(renamed, spring)).toMatchObject({ endAt: spring.endAt, startAt: spring.startAt, title: "Renamed" });
});

it("what somebody else changed is told, and what was typed stays", () => {
  const typed = { ...draftOf(spring, "UTC"), title: "Mine", addPercent: "11" };
  const newest = { ...spring, addPercent: 50, isActive: false, updatedAt: "2026-01-02T00:00:00Z" };
  const { draft, changes } = rebased(typed, spring, newest);
  expect(draft).toEqual({ ...typed, isActive: false });
  expect(changes).toEqual([
    { field: "addPercent", before: "10", now: "50", isMine: true },
    { field: "isActive", before: true, now: false, isMine: false },
  ]);
});

it("a number is all of what was typed", () => {
  const typed = { ...draftOf(spring, "UTC"), addPercent: "1e2", availableCount: "1e3" };
  expect(inputOf(typed, spring)).toMatchObject({ addPercent: 100, availableCount: 1_000 });
});

it("a promotion is recognised by all that was sent", () => {
  const input = inputOf(draftOf(spring, "UTC"), spring);
  expect(isLike(spring, input)).toBe(true);
  expect(isLike({ ...spring, addPercent: 11 }, input)).toBe(false);
});
