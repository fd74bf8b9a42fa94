import { useSearch } from "@tanstack/react-router";
import { useSettings, type Zone } from "@/lib/settings";

/** The zone that times are shown in: the link's, else one's own. */
export function useZone(): Zone {
  const { tz } = useSearch({ strict: false }) as { tz?: Zone };
  const { zone } = useSettings();
  return tz ?? zone;
}
