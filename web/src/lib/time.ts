import type { Locale, Zone } from "./settings";

const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The zone's name for `Intl`. */
export function zoneName(zone: Zone): string {
  return zone === "browser" ? browserZone : zone;
}

interface Parts {
  year: string;
  month: string;
  day: string;
  hour: string;
  minute: string;
  second: string;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function parts(at: Date, zone: Zone): Parts {
  const name = zoneName(zone);
  let format = formats.get(name);
  if (!format) {
    format = new Intl.DateTimeFormat("en-GB", {
      timeZone: name,
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      hourCycle: "h23",
    });
    formats.set(name, format);
  }
  return Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value])) as unknown as Parts;
}

/** `2026-12-01 09:30:05`, in the zone; without the year if it is this one. */
export function absolute(iso: string, zone: Zone, now = new Date()): string {
  const at = parts(new Date(iso), zone);
  const year = at.year === parts(now, zone).year ? "" : `${at.year}-`;
  return `${year}${at.month}-${at.day} ${at.hour}:${at.minute}:${at.second}`;
}

/** `09:30`, in the zone. */
export function clock(iso: string | number, zone: Zone): string {
  const at = parts(new Date(iso), zone);
  return `${at.hour}:${at.minute}`;
}

/** ISO 8601 with the zone's offset. */
export function iso(text: string, zone: Zone): string {
  const instant = new Date(text);
  const at = parts(instant, zone);
  const local = Date.UTC(+at.year, +at.month - 1, +at.day, +at.hour, +at.minute, +at.second);
  const offset = Math.round((local - Math.floor(instant.getTime() / 1000) * 1000) / 60_000);
  const sign = offset < 0 ? "-" : "+";
  const two = (value: number) => String(value).padStart(2, "0");
  const away = Math.abs(offset);
  const millis = String(instant.getUTCMilliseconds()).padStart(3, "0");
  return `${at.year}-${at.month}-${at.day}T${at.hour}:${at.minute}:${at.second}.${millis}${sign}${two(Math.floor(away / 60))}:${two(away % 60)}`;
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

const distances = new Map<Locale, Intl.RelativeTimeFormat>();

/** `3 minutes ago`. */
export function relative(iso: string, locale: Locale, now = Date.now()): string {
  const seconds = Math.round((new Date(iso).getTime() - now) / 1000);
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? (["second", 1] as const);
  const format = distances.get(locale) ?? new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  distances.set(locale, format);
  return format.format(Math.trunc(seconds / size), unit);
}

/** `1h 5m`, `12.4 s`, `340 ms`: how long something took. */
export function duration(millis: number): string {
  if (millis < 1_000) return `${Math.round(millis)} ms`;
  const seconds = millis / 1_000;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${Math.floor(seconds % 60)}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** The value of an `<input type="datetime-local">` for an instant, in the zone. */
export function toLocalInput(text: string | undefined, zone: Zone): string {
  if (!text || Number.isNaN(Date.parse(text))) return "";
  return iso(text, zone).slice(0, 16);
}

/** The instant that such a value means in the zone. */
export function fromLocalInput(value: string, zone: Zone): string | undefined {
  if (!value) return undefined;
  const guess = new Date(`${value}Z`);
  if (Number.isNaN(guess.getTime())) return undefined;
  // What the zone shows for the guess tells how far off it is; twice, for the hours around a change of the clocks.
  let instant = guess;
  for (let round = 0; round < 2; round += 1) {
    const shown = new Date(`${iso(instant.toISOString(), zone).slice(0, 19)}Z`);
    instant = new Date(instant.getTime() + guess.getTime() - shown.getTime());
  }
  return instant.toISOString();
}
