import { expect, it } from "vitest";
import { chosen, unknownOf } from "./spec";

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

it("a list without a range knows none", () => {
  expect(unknownOf({ ...spec, hasRange: false }, { range: "1h" })).toEqual([{ key: "range", value: "1h" }]);
});

it("a choice is one of its values", () => {
  expect(chosen(["API", "OPERATOR"], { source: "OPERATOR" }, "source")).toBe("OPERATOR");
  expect(chosen(["API", "OPERATOR"], { source: "operator" }, "source")).toBeUndefined();
});
