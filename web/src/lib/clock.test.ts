import { expect, it } from "vitest";
import { hear, serverNow } from "./clock";

const NOON = Date.parse("2026-03-01T12:00:00Z");

it("a browser that is wrong by minutes asks by the server's clock", () => {
  for (const wrong of [20 * 60_000, -20 * 60_000]) {
    hear("Sun, 01 Mar 2026 12:00:00 GMT", NOON + wrong);
    expect(Math.abs(serverNow(NOON + wrong) - NOON), String(wrong)).toBeLessThanOrEqual(1_000);
  }
});

it("a browser that is right keeps its own milliseconds, and an answer without a date says nothing", () => {
  hear("Sun, 01 Mar 2026 12:00:00 GMT", NOON + 700);
  expect(serverNow(NOON + 700)).toBe(NOON + 700);
  hear(null);
  hear("yesterday");
  expect(serverNow(NOON + 900)).toBe(NOON + 900);
});
