/** How far the server's clock is ahead of the browser's, in milliseconds. */
let ahead = 0;

/** Takes the time from an answer's `Date`, which is in whole seconds. */
export function hear(date: string | null, now = Date.now()): void {
  const told = Date.parse(date ?? "");
  if (Number.isNaN(told)) return;
  // Within its second, nothing is known of who is ahead.
  const gap = told - now;
  ahead = gap > 0 ? gap : Math.min(0, gap + 1_000);
}

/** What the server's clock says: rows carry its time, whatever the browser's is. */
export function serverNow(now = Date.now()): number {
  return now + ahead;
}
