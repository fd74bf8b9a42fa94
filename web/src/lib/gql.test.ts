import { expect, it } from "vitest";
import { ApiError, isAnswered } from "./gql";

it("only who has heard no that nothing was done may send something else", () => {
  for (const code of ["BAD_USER_INPUT", "FORBIDDEN", "HTTP_400", "HTTP_415"])
    expect(isAnswered(new ApiError(code, "")), code).toBe(true);
  for (const code of ["INTERNAL", "UNREACHABLE", "HTTP_502", "HTTP_408", "HTTP_499"])
    expect(isAnswered(new ApiError(code, "")), code).toBe(false);
  expect(isAnswered(new TypeError("no answer at all"))).toBe(false);
});
