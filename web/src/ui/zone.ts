import { useSearch } from "@tanstack/react-router";
import { useT } from "@/i18n";
import { useSettings, type Zone } from "@/lib/settings";

/** The zone that times are shown in: the link's, else one's own. */
export function useZone(): Zone {
  const { tz } = useSearch({ strict: false }) as { tz?: Zone };
  const { zone } = useSettings();
  return tz ?? zone;
}

/** Which zone that is, and where to choose another: for the heads of columns of times. */
export function useZoneTitle(): string {
  const t = useT();
  const zone = useZone();
  return t.settings.timesIn(t.settings.zones[zone] ?? zone);
}
