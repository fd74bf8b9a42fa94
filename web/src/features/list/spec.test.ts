import { expect, it } from "vitest";
import { strangers } from "./search";
import { chosen, createdWithin, isMoment, unknownOf } from "./spec";

const spec = {
  statuses: ["PENDING", "FAILED"],
  choices: [{ key: "source", label: () => "", values: ["API", "OPERATOR"], name: () => "" }],
  columns: [{ key: "id", label: () => "", cell: () => null }],
  hasRange: true,
};

it("what an address asks for and the list does not know is told, value by value", () => {
  const search = {
    status: "FAILED,NOPE",
    source: "ELSEWHERE",
    range: "3y",
    from: "garbage",
    to: "2026-01-01",
    cols: "x",
  };
  expect(unknownOf(spec, search).map(({ key, value }) => `${key}=${value}`)).toEqual([
    "status=NOPE",
    "source=ELSEWHERE",
    "range=3y",
    "from=garbage",
    "cols=x",
  ]);
  expect(unknownOf(spec, { status: "FAILED", source: "API", range: "1h", cols: "id", userId: "any" })).toEqual([]);
});

it("several values where one is asked for, names that every object has, and no word at all are told too", () => {
  const search = { source: "API,OPERATOR", range: "toString", status: ",", from: "," };
  expect(unknownOf(spec, search).map(({ key, value }) => `${key}=${value}`)).toEqual([
    "status=,",
    "source=API,OPERATOR",
    "range=toString",
    "from=,",
  ]);
});

it("a moment is a day of the calendar, and bounds go before a range", () => {
  for (const good of ["2026-02-28", "2026-02-28T09:00:00Z", "2026-02-28T09:00:00.123456+09:00"])
    expect(isMoment(good), good).toBe(true);
  for (const bad of ["garbage 1", "order-5", "2026-02-31", "2026-02-28x", "28.02.2026"])
    expect(isMoment(bad), bad).toBe(false);
  const noon = Date.parse("2026-03-01T12:00:30Z");
  expect(createdWithin({ range: "15m", from: "2026-01-01" }, noon)).toEqual({ from: "2026-01-01" });
  expect(createdWithin({ range: "15m" }, noon)).toEqual({ from: "2026-03-01T11:45:00.000Z" });
  expect(createdWithin({ range: "toString", from: "order-5" }, noon)).toBeUndefined();
});

it("a name that the list does not have is told", () => {
  const told = strangers("?stauts=FAILED&userId=1&tz=UTC&status=OPEN&empty=", ["userId"]);
  expect(told).toEqual([{ key: "stauts", value: "FAILED" }]);
});

it("a list without a range knows none", () => {
  expect(unknownOf({ ...spec, hasRange: false }, { range: "1h" })).toEqual([{ key: "range", value: "1h" }]);
});

it("a choice is one of its values", () => {
  expect(chosen(["API", "OPERATOR"], { source: "OPERATOR" }, "source")).toBe("OPERATOR");
  expect(chosen(["API", "OPERATOR"], { source: "operator" }, "source")).toBeUndefined();
});
