import { useSettings } from "@/lib/settings";
import { absolute, iso, relative } from "@/lib/time";
import { useZone } from "./zone";

/** A moment: absolute in the chosen zone; in full, and how long ago, in the title. */
export function Time({ at, className }: { at: string | null | undefined; className?: string }) {
  const zone = useZone();
  const { locale } = useSettings();
  if (!at) return <span className="text-ink-2">–</span>;
  return (
    <time
      dateTime={at}
      title={`${iso(at, zone)} · ${relative(at, locale)}`}
      className={`whitespace-nowrap ${className ?? ""}`}
    >
      {absolute(at, zone)}
    </time>
  );
}
