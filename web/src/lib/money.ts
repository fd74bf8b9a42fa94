import type { Count } from "@/i18n/words";

/** Whole won, exactly: through BigInt, never through a float. */
export function won(amount: number, locale: string): string {
  return `₩${BigInt(amount).toLocaleString(locale)}`;
}

/** How many there are, as the server counts: exactly, or at least. */
export function count(value: number, locale: string, precision: "EXACT" | "AT_LEAST" = "EXACT"): Count {
  return { value, text: `${whole(value, locale)}${precision === "AT_LEAST" ? "+" : ""}` };
}

/** A whole number with its thousands apart. */
export function whole(value: number, locale: string): string {
  return BigInt(value).toLocaleString(locale);
}
