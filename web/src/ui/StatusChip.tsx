import { useT } from "@/i18n";
import { lookOf, type Of, type Tone } from "./status";

const TONES: Record<Tone, string> = {
  neutral: "bg-neutral-ground text-neutral",
  info: "bg-info-ground text-info",
  ok: "bg-ok-ground text-ok",
  warn: "bg-warn-ground text-warn",
  bad: "bg-bad-ground text-bad",
  paused: "bg-paused-ground text-paused",
};

export function toneClasses(tone: Tone): string {
  return TONES[tone];
}

/** A state: icon, word and colour. */
export function StatusChip({ status, of }: { status: string; of: Of }) {
  const t = useT();
  const { tone, icon: Icon } = lookOf(status, of);
  return (
    <span
      className={`inline-flex h-5 items-center align-middle gap-1 rounded-md px-1.5 text-xs font-medium whitespace-nowrap ${TONES[tone]}`}
      data-status={status}
    >
      <Icon size={12} aria-hidden="true" className="shrink-0" />
      {t.status[status] ?? status}
    </span>
  );
}
