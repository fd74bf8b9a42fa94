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
  const names = /^\.(name|source\.API|field\.id|settings\.zones\.UTC|overview\.p99|detail\.done)$/;
  const untranslated = texts(ko).filter(
    ([place, text]) => typeof text === "string" && !/[가-힣]/.test(text) && !names.test(place),
  );
  expect(untranslated).toEqual([]);
});
