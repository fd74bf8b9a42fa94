import { CircleX, RotateCcw } from "lucide-react";
import { useT } from "@/i18n";

/** In the place of a page that cannot be shown: its code is missing, or failed. */
export function Broken({ error }: { error: unknown }) {
  const t = useT();
  return (
    <div role="alert" className="panel m-3 flex max-w-2xl items-start gap-3 p-4">
      <CircleX size={18} className="mt-0.5 shrink-0 text-bad" aria-hidden="true" />
      <div className="min-w-0 flex-1">
        <p className="font-semibold">{t.error.broken}</p>
        <p>{t.error.brokenHint}</p>
        <p lang="en" className="mono text-xs wrap-anywhere text-ink-2">
          {String(error).slice(0, 300)}
        </p>
      </div>
      <button type="button" className="button" onClick={() => location.reload()}>
        <RotateCcw size={13} aria-hidden="true" />
        {t.error.reload}
      </button>
    </div>
  );
}
