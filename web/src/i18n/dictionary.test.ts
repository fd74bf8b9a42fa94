import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { en } from "./en";
import { ko } from "./ko";

/** Every text of a dictionary, by its place. */
function texts(part: object, place = ""): [string, unknown][] {
  return Object.entries(part).flatMap(([key, value]) =>
    typeof value === "object"
      ? texts(value as object, `${place}.${key}`)
      : [[`${place}.${key}`, value] as [string, unknown]],
  );
}

it("both languages have every text, the lists of codes too", () => {
  expect(texts(ko).map(([place]) => place)).toEqual(texts(en).map(([place]) => place));
  for (const [place, text] of [...texts(en), ...texts(ko)]) expect(text, place).not.toBe("");
});

it("Korean is Korean, but for names", () => {
  const names = /^\.(name|source\.API|field\.id|settings\.zones\.UTC|detail\.done)$/;
  const untranslated = texts(ko).filter(
    ([place, text]) => typeof text === "string" && !/[가-힣]/.test(text) && !names.test(place),
  );
  expect(untranslated).toEqual([]);
});

it("every check of the books and every kind of failure has its words", () => {
  const folder = new URL("../../../src/operations/invariants/", import.meta.url);
  const sources = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8"));
  const checks = sources.flatMap((source) =>
    [...source.matchAll(/invariant!\(\s*"([a-z-]+)"/g)].map(([, name]) => name),
  );
  expect(checks.length).toBeGreaterThan(20);
  expect(checks.filter((name) => !name || !(name in en.invariant))).toEqual([]);
  const schema = readFileSync(new URL("../../../schema.graphql", import.meta.url), "utf8");
  const values = (type: string) =>
    [...(schema.split(`enum ${type} {`)[1]?.split("\n}")[0] ?? "").matchAll(/^\t([A-Z_]+)$/gm)].map(
      ([, value]) => value ?? "",
    );
  expect(values("FailureKind").filter((kind) => !(kind in en.kind))).toEqual([]);
  for (const type of [
    "OutboxStatus",
    "PaymentStatus",
    "RefundStatus",
    "InboundDeadLetterStatus",
    "ChargePaymentStatus",
    "ChargeJobStatus",
    "Severity",
    "ProviderOutcome",
    "PublishOutcome",
  ]) {
    expect(
      values(type).filter((value) => !(value in en.status)),
      type,
    ).toEqual([]);
  }
});
