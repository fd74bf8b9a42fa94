import type { CanProductInput, Container, ProductRowFragment } from "@/gql/graphql";

/** Where can is sold, in the order of the price list. */
export const CONTAINERS = ["PG", "AOS", "IOS"] as const satisfies Container[];

/** What the form's fields hold. */
export interface Draft {
  container: Container;
  sku: string;
  can: string;
  price: string;
  title: string;
  isActive: boolean;
}

export function draftOf(product: ProductRowFragment | undefined): Draft {
  return {
    container: product?.container ?? "PG",
    sku: product?.sku ?? "",
    can: product ? String(product.can) : "",
    price: product ? String(product.price) : "",
    title: product?.title ?? "",
    isActive: product?.isActive ?? true,
  };
}

/** A whole number in digits; anything else is 0, which the server refuses by the field's name. */
function whole(text: string): number {
  const digits = text.trim();
  return /^\d{1,15}$/.test(digits) ? Number(digits) : 0;
}

export function inputOf({ container, sku, can, price, title, isActive }: Draft): CanProductInput {
  return { container, sku: sku.trim(), can: whole(can), price: whole(price), title: title.trim(), isActive };
}

/** The form over what somebody else has written meanwhile: what was typed stays, what was not typed follows. */
export function rebased(draft: Draft, seen: ProductRowFragment, newest: ProductRowFragment): Draft {
  const [before, now] = [draftOf(seen), draftOf(newest)];
  const typed = Object.entries(draft).filter(([field, value]) => value !== before[field as keyof Draft]);
  return { ...now, ...Object.fromEntries(typed) };
}

/** The product that is on the list under the same id already. */
export function twin(draft: Draft, products: ProductRowFragment[]): ProductRowFragment | undefined {
  const sku = draft.sku.trim();
  return products.find((one) => one.container === draft.container && one.sku === sku);
}
