import { describe, expect, it } from "vitest";
import { type JsonNode, parseJson } from "./json";

/** Every atom's text, in order. */
function atoms(node: JsonNode | undefined): string[] {
  if (!node) return [];
  if (node.kind === "atom") return [node.text];
  const members = node.kind === "array" ? node.items : node.entries.map(([, member]) => member);
  return members.flatMap(atoms);
}

describe("JSON as it is written", () => {
  it("keeps every number's text", () => {
    const numbers = ["1.10", "12345678901234567890123", "1E2", "-0", "0.1e-7"];
    expect(atoms(parseJson(`[${numbers.join(", ")}]`))).toEqual(numbers);
  });

  it("keeps the order of keys, those that look like numbers and those that repeat too", () => {
    const node = parseJson('{"10": 1, "2": 2, "10": 3}');
    expect(node?.kind === "object" && node.entries.map(([key]) => key)).toEqual(['"10"', '"2"', '"10"']);
  });

  it("reads what JSON.parse reads, and nothing that it does not", () => {
    const good = ["1", '"a\\"b"', "[]", "{}", "[[],{}]", ' {"a" : [true, null, {"b": "결제"}]} ', "-1.5e+3"];
    for (const text of good) expect(parseJson(text), text).toBeDefined();
    const bad = ["", "[1,]", "{'a':1}", "[1 2]", "{1:2}", "tru", "01", "1.", "[", "]", '{"a"}', "1 2", "NaN", '"\\"'];
    for (const text of bad) {
      expect(() => JSON.parse(text), text).toThrow();
      expect(parseJson(text), text).toBeUndefined();
    }
  });

  it("gives up on what is too deep, instead of breaking", () => {
    expect(parseJson("[".repeat(50_000) + "]".repeat(50_000))).toBeUndefined();
  });
});
