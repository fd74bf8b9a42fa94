/** Whole won, exactly: through BigInt, never through a float. */
export function won(amount: number, locale: string): string {
  return `₩${BigInt(amount).toLocaleString(locale)}`;
}

/** A whole number with its thousands apart. */
export function whole(value: number, locale: string): string {
  return BigInt(value).toLocaleString(locale);
}
