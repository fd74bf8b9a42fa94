import { Store, useStore } from "./store";

export type Locale = "en" | "ko";
export type Theme = "system" | "light" | "dark";
export type Density = "compact" | "comfortable";
export type Zone = "Asia/Seoul" | "UTC" | "browser";

export interface Settings {
  locale: Locale;
  theme: Theme;
  density: Density;
  zone: Zone;
}

export const ZONES: Zone[] = ["Asia/Seoul", "UTC", "browser"];
export const DEFAULT_ZONE: Zone = "Asia/Seoul";
const KEY = "paydesk.settings";

function read(): Settings {
  const fallback: Settings = {
    locale: navigator.language.toLowerCase().startsWith("ko") ? "ko" : "en",
    theme: "system",
    density: "compact",
    zone: DEFAULT_ZONE,
  };
  try {
    return { ...fallback, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Settings>) };
  } catch {
    return fallback;
  }
}

export const settings = new Store<Settings>(read());

export function changeSettings(change: Partial<Settings>) {
  const changed = { ...settings.get(), ...change };
  settings.set(changed);
  localStorage.setItem(KEY, JSON.stringify(changed));
  dress();
}

/** Shows theme and density; called before the first paint. */
export function dress() {
  const { theme, density, locale } = settings.get();
  const root = document.documentElement;
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  root.dataset.density = density;
  root.lang = locale;
}

export function useSettings(): Settings {
  return useStore(settings);
}
