import { expect, it } from "vitest";
import { whole, won } from "./money";

it("money is exact up to the largest number that the API sends", () => {
  expect(won(3_000_000_000, "en")).toBe("₩3,000,000,000");
  expect(won(Number.MAX_SAFE_INTEGER, "ko")).toBe("₩9,007,199,254,740,991");
  expect(whole(0, "en")).toBe("0");
});

it("an amount that is not whole is refused rather than rounded", () => {
  expect(() => won(1.5, "en")).toThrow(RangeError);
});
