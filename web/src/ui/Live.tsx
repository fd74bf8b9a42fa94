import { CirclePause, Radio, TriangleAlert, Unplug } from "lucide-react";
import { useT } from "@/i18n";
import { Store, useStore } from "@/lib/store";
import { connection } from "@/lib/ws";

/** Whether the reader wants nothing to change for now; for the whole console. */
export const paused = new Store(false);

/** How live the page is, in words. */
export function LiveIndicator() {
  const t = useT();
  const state = useStore(connection);
  const isPaused = useStore(paused);
  const [Icon, word, colour] = isPaused
    ? ([CirclePause, t.live.paused, "text-paused"] as const)
    : state === "live"
      ? ([Radio, t.live.live, "text-ok"] as const)
      : state === "idle" || state === "connecting"
        ? ([Radio, t.live.connecting, "text-ink-2"] as const)
        : state === "refused"
          ? ([Unplug, t.live.refused, "text-bad"] as const)
          : ([TriangleAlert, t.live.reconnecting, "text-warn"] as const);
  return (
    <span
      role="status"
      className={`inline-flex items-center gap-1.5 text-xs font-medium ${colour}`}
      data-live={isPaused ? "paused" : state}
    >
      <Icon size={13} aria-hidden="true" />
      {word}
    </span>
  );
}

export function PauseButton() {
  const t = useT();
  const isPaused = useStore(paused);
  return (
    <button
      type="button"
      className="button"
      aria-pressed={isPaused}
      aria-keyshortcuts="p"
      onClick={() => paused.set(!isPaused)}
    >
      <CirclePause size={13} aria-hidden="true" />
      {isPaused ? t.live.resume : t.live.pause}
    </button>
  );
}

/** What came and is not shown yet. It stands where it moves nothing. */
export function Fresh({ count, more, show }: { count: number; more?: boolean; show: () => void }) {
  const t = useT();
  return (
    <span aria-live="polite">
      {count > 0 ? (
        <button
          type="button"
          className="rounded-md bg-accent-ground px-2 font-medium whitespace-nowrap text-accent hover:underline"
          onClick={() => {
            show();
            // The button is gone then; the next key finds the rows.
            document.getElementById("content")?.focus();
          }}
        >
          {t.live.fresh(`${count}${more ? "+" : ""}`)}
        </button>
      ) : null}
    </span>
  );
}
