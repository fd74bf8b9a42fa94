import { won } from "@/lib/money";
import { useSettings } from "@/lib/settings";

/** Whole won. */
export function Money({ amount }: { amount: number }) {
  const { locale } = useSettings();
  return <span className="whitespace-nowrap tabular-nums">{won(amount, locale)}</span>;
}
