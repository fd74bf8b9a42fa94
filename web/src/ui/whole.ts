import type { PointerEvent } from "react";

/** What a cell would show if there were room, or what it has to add. */
function wholeOf(cell: HTMLElement): string {
  const titled = cell.querySelector<HTMLElement>("[title]");
  if (titled?.title) return titled.title;
  const parts = [cell, ...cell.querySelectorAll<HTMLElement>("*")];
  const isCut = parts.some(
    (part) => part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1,
  );
  return isCut ? (cell.textContent ?? "") : "";
}

/**
 * Gives the cell under the pointer its whole text as a title. A row's link lies over its cells, and the browser shows
 * the title of what is on top: the link gets it too.
 */
export function showWhole(event: PointerEvent<HTMLTableSectionElement>) {
  const row = (event.target as HTMLElement).closest("tr");
  const cell = [...(row?.cells ?? [])].find((one) => {
    const { left, right } = one.getBoundingClientRect();
    return event.clientX >= left && event.clientX < right;
  });
  if (!row || !cell) return;
  const link = row.querySelector<HTMLElement>("a[data-row]");
  if (!(link && cell.contains(link))) {
    const text = wholeOf(cell);
    if (cell.title !== text && !cell.querySelector("[title]")) cell.title = text;
    if (link && link.title !== text) link.title = text;
  } else if (link.title) link.title = "";
}
