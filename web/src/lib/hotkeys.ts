import { useEffect, useRef } from "react";

/** Keys that are known by what they write: not every layout has them at the same place. */
const SYMBOLS: Record<string, string> = { "/": "Slash", "?": "shift Slash" };

/** Whether the keys belong to somebody who writes, or to a dialog. */
function isTaken(event: KeyboardEvent): boolean {
  if (event.isComposing || event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return true;
  const target = event.target as HTMLElement;
  if (event.key in SYMBOLS && target instanceof HTMLSelectElement) return false;
  if (target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable=true]")) return true;
  return document.querySelector('[role="dialog"], [role="menu"], [role="listbox"]') !== null;
}

/** Keys by their place on the keyboard, so that they work in Hangul mode; `g KeyP` means G, then P. */
export type Hotkeys = Record<string, (event: KeyboardEvent) => void>;

const SEQUENCE_MS = 1_500;

export function useHotkeys(keys: Hotkeys) {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    let since = 0;
    const listen = (event: KeyboardEvent) => {
      if (isTaken(event)) return;
      const name = SYMBOLS[event.key] ?? `${event.shiftKey ? "shift " : ""}${event.code}`;
      const inSequence = Date.now() - since < SEQUENCE_MS;
      since = event.code === "KeyG" && !inSequence ? Date.now() : 0;
      const found = latest.current[inSequence ? `g ${event.code}` : name];
      if (!found) return;
      event.preventDefault();
      found(event);
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}
