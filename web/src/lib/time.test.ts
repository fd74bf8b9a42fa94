import { describe, expect, it } from "vitest";
import { absolute, duration, fromLocalInput, iso, relative, toLocalInput } from "./time";

const now = new Date("2026-12-01T00:00:00Z");

describe("times", () => {
  it("are absolute in the zone, with the year only when it is another one", () => {
    expect(absolute("2026-11-30T17:05:09.987Z", "Asia/Seoul", now)).toBe("12-01 02:05:09");
    expect(absolute("2026-11-30T17:05:09.987Z", "UTC", now)).toBe("11-30 17:05:09");
    expect(absolute("2025-11-30T17:05:09Z", "UTC", now)).toBe("2025-11-30 17:05:09");
    expect(absolute("2026-12-31T15:00:00Z", "Asia/Seoul", now)).toBe("2027-01-01 00:00:00");
  });

  it("are in full with the zone's offset", () => {
    expect(iso("2026-11-30T17:05:09.987Z", "Asia/Seoul")).toBe("2026-12-01T02:05:09.987+09:00");
    expect(iso("2026-11-30T17:05:09.987Z", "UTC")).toBe("2026-11-30T17:05:09.987+00:00");
  });

  it("are relative in both languages", () => {
    expect(relative("2026-11-30T23:57:00Z", "en", now.getTime())).toBe("3 minutes ago");
    expect(relative("2026-11-30T23:57:00Z", "ko", now.getTime())).toBe("3분 전");
    expect(relative("2026-12-03T00:00:00Z", "en", now.getTime())).toBe("in 2 days");
  });

  it("go through an input and back, to the minute", () => {
    for (const zone of ["Asia/Seoul", "UTC"] as const) {
      const input = toLocalInput("2026-11-30T17:05:00.000Z", zone);
      expect(fromLocalInput(input, zone)).toBe("2026-11-30T17:05:00.000Z");
    }
    expect(toLocalInput("2026-11-30T17:05:00Z", "Asia/Seoul")).toBe("2026-12-01T02:05");
    expect(fromLocalInput("nonsense", "UTC")).toBeUndefined();
    expect(toLocalInput("nonsense", "UTC")).toBe("");
  });

  it("of a length are in the unit that fits", () => {
    expect([0, 999, 1_000, 12_345, 61_000, 3_660_000, 90_000_000].map(duration)).toEqual([
      "0 ms",
      "999 ms",
      "1.0 s",
      "12 s",
      "1m 1s",
      "1h 1m",
      "1d 1h",
    ]);
  });
});
