import { useRouter } from "@tanstack/react-router";
import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";

interface Place {
  top: number;
  row: string;
}

/** Where the reader was in each list when he opened one of its rows; by address. */
const left = new Map<string, Place>();

/**
 * Keeps the reader's place: another page of a list begins at its top, and who comes back from a row is where he was,
 * with the keyboard on that row.
 */
export function usePlace(box: RefObject<HTMLDivElement | null>, page: string | undefined) {
  const router = useRouter();
  const address = router.state.location.href;
  const shown = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || page === undefined || shown.current === page) return;
    const isFirst = shown.current === undefined;
    shown.current = page;
    const place = left.get(address);
    if (isFirst && place) {
      left.delete(address);
      element.scrollTop = place.top;
      element.querySelector<HTMLElement>(`a[data-row="${CSS.escape(place.row)}"]`)?.focus({ preventScroll: true });
    } else if (!isFirst) element.scrollTop = 0;
  }, [box, page, address]);
  useEffect(() => {
    const element = box.current;
    const opened = (event: MouseEvent) => {
      const row = (event.target as HTMLElement).closest<HTMLElement>("a[data-row]")?.dataset.row;
      if (element && row) left.set(address, { top: element.scrollTop, row });
    };
    element?.addEventListener("click", opened);
    return () => element?.removeEventListener("click", opened);
  }, [box, address]);
}
