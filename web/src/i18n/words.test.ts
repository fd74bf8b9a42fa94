import { expect, it } from "vitest";
import { en } from "./en";
import { ko } from "./ko";
import { withParticle } from "./words";

const count = (value: number, text = String(value)) => ({ value, text });

it("one thing is one thing, and none or several are things", () => {
  for (const [key, tell] of Object.entries(en.counted)) {
    expect(tell(count(1)), key).toMatch(/^1 .*[^s]$/);
    expect(tell(count(0)), key).toBe(`${tell(count(2)).replace(/^2/, "0")}`);
    expect(tell(count(10_000, "10,000+")), key).toMatch(/^10,000\+ .*s$/);
  }
  expect(en.counted.promotions(count(1))).toBe("1 promotion");
  expect(en.overview.violations(count(1))).toBe("1 row");
  expect(en.overview.booksBroken(count(1))).toBe("1 check does not hold.");
  expect(en.detail.bytes(count(1))).toContain("1 byte,");
});

it("a Korean noun gets the particle of its last syllable", () => {
  expect(withParticle("결제", "은", "는")).toBe("결제는");
  expect(withParticle("환불", "은", "는")).toBe("환불은");
  expect(ko.error.missing("회원", "7")).toBe("ID가 7인 회원은 없습니다.");
});
