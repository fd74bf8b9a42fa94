import type { Count } from "@/i18n/words";

// Made once: a list shows a hundred numbers, and a format costs more than what it writes.
const formats = new Map<string, Intl.NumberFormat>();

function written(value: number, locale: string): string {
  const format = formats.get(locale) ?? new Intl.NumberFormat(locale);
  formats.set(locale, format);
  return format.format(BigInt(value));
}

/** Whole won, exactly: through BigInt, never through a float. */
export function won(amount: number, locale: string): string {
  return `₩${written(amount, locale)}`;
}

/** How many there are, as the server counts: exactly, or at least. */
export function count(value: number, locale: string, precision: "EXACT" | "AT_LEAST" = "EXACT"): Count {
  return { value, text: `${whole(value, locale)}${precision === "AT_LEAST" ? "+" : ""}` };
}

/** A whole number with its thousands apart. */
export function whole(value: number, locale: string): string {
  return written(value, locale);
}
