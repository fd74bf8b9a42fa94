import { expect, it } from "vitest";
import type { ProductRowFragment } from "@/gql/graphql";
import { draftOf, inputOf, rebased, twin } from "./draft";

const product: ProductRowFragment = {
  container: "PG",
  sku: "coin_100",
  can: 100,
  price: 11_000,
  title: "100 can",
  isActive: true,
  updatedAt: "2026-01-01T00:00:00Z",
};

it("what nobody touched is sent as it is", () => {
  const { updatedAt: _unsent, ...sent } = product;
  expect(inputOf(draftOf(product))).toEqual(sent);
});

it("money is digits and nothing else", () => {
  const priceOf = (price: string) => inputOf({ ...draftOf(product), price }).price;
  expect(priceOf(" 9900 ")).toBe(9900);
  for (const wrong of ["", "1e3", "9,900", "-1", "9.5", "9".repeat(16)]) expect(priceOf(wrong), wrong).toBe(0);
});

it("what somebody else changed follows, and what was typed stays", () => {
  const typed = { ...draftOf(product), price: "9900" };
  const newest = { ...product, can: 120, price: 12_000, isActive: false };
  expect(rebased(typed, product, newest)).toEqual({ ...draftOf(newest), price: "9900" });
});

it("a product is found by its place and id", () => {
  const typed = { ...draftOf(undefined), sku: " coin_100 " };
  expect(twin(typed, [product])).toBe(product);
  expect(twin({ ...typed, container: "AOS" }, [product])).toBeUndefined();
});
