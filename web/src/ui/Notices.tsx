import { CircleCheck, CircleX, X } from "lucide-react";
import { useEffect } from "react";
import { useT } from "@/i18n";
import { Store, useStore } from "@/lib/store";

const notice = new Store<{ id: number; text: string; isBad: boolean } | undefined>(undefined);
let count = 0;

/** Tells what was done. Only what the server confirmed is told here. */
export function tell(text: string) {
  count += 1;
  notice.set({ id: count, text, isBad: false });
}

/** Tells what was not done, or not to its end, when the place is gone that would have shown it; until it is closed. */
export function warn(text: string) {
  count += 1;
  notice.set({ id: count, text, isBad: true });
}

export function Notices() {
  const t = useT();
  const shown = useStore(notice);
  useEffect(() => {
    if (!shown || shown.isBad) return;
    const timer = setTimeout(() => notice.set(undefined), 8_000);
    return () => clearTimeout(timer);
  }, [shown]);
  return (
    <div role="status" aria-live="polite" className="fixed right-4 bottom-4 z-50">
      {shown ? (
        <div className="popup flex items-center gap-2 py-2 pr-2 pl-3">
          {shown.isBad ? (
            <CircleX size={15} className="shrink-0 text-bad" aria-hidden="true" />
          ) : (
            <CircleCheck size={15} className="shrink-0 text-ok" aria-hidden="true" />
          )}
          {shown.text}
          <button
            type="button"
            className="button size-6! p-0!"
            data-kind="quiet"
            aria-label={t.keys.close}
            onClick={() => notice.set(undefined)}
          >
            <X size={13} aria-hidden="true" />
          </button>
        </div>
      ) : null}
    </div>
  );
}
