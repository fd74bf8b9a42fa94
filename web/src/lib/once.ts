import { useRef } from "react";

/**
 * Begins a piece of work unless the one before is still under way: of two clicks in a row, before anything on the screen
 * has changed, the second does nothing. Work that fails has said so itself.
 */
export function useOnce(): (work: () => Promise<unknown>) => void {
  const isBusy = useRef(false);
  return (work) => {
    if (isBusy.current) return;
    isBusy.current = true;
    void work()
      .catch(() => {})
      .finally(() => {
        isBusy.current = false;
      });
  };
}
