import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const css = readFileSync(new URL("./tokens.css", import.meta.url), "utf8");
const tokens = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name = "", light = "", dark = ""]) => [
    name,
    [light, dark],
  ]),
);

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

const STATES = ["neutral", "info", "ok", "warn", "bad", "paused"];
const PAIRS = [
  ...["ground", "ground-2", "ground-3"].flatMap((ground) => [
    ["ink", ground],
    ["ink-2", ground],
  ]),
  ["accent", "ground"],
  ["accent", "ground-2"],
  ["accent", "accent-ground"],
  ["on-accent", "accent"],
  ["ground", "bad"],
  ["ground", "warn"],
  ...STATES.flatMap((state) => [
    [state, `${state}-ground`],
    [state, "ground"],
  ]),
];

describe("colours", () => {
  it.each(PAIRS)("%s on %s has a contrast of 6.5 at least, in light and dark", (text = "", ground = "") => {
    for (const theme of [0, 1]) {
      const ratio = contrast(tokens.get(text)?.[theme] ?? "", tokens.get(ground)?.[theme] ?? "");
      expect(ratio, theme === 0 ? "light" : "dark").toBeGreaterThanOrEqual(6.5);
    }
  });
});
