import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useId } from "react";
import { Panel } from "@/features/detail/parts";
import { useT } from "@/i18n";
import { session } from "@/lib/session";
import {
  changeSettings,
  DEFAULT_ZONE,
  type Density,
  type Locale,
  type Theme,
  useSettings,
  ZONES,
  type Zone,
} from "@/lib/settings";
import { useStore } from "@/lib/store";
import { zoneName } from "@/lib/time";
import { PageTitle } from "@/ui/PageTitle";
import { Shortcuts } from "@/ui/Shortcuts";
import { Time } from "@/ui/Time";
import { useZone } from "@/ui/zone";

function Choice<T extends string>({
  label,
  value,
  options,
  change,
}: {
  label: string;
  value: T;
  options: [T, string][];
  change: (value: T) => void;
}) {
  const name = useId();
  return (
    <div role="radiogroup" aria-labelledby={`${name}-label`} className="grid grid-cols-[96px_1fr] items-baseline">
      <span id={`${name}-label`} className="text-ink-2">
        {label}
      </span>
      <div className="flex flex-wrap gap-x-4">
        {options.map(([option, word]) => (
          <label key={option} className="inline-flex h-7 items-center gap-1.5">
            <input type="radio" name={name} checked={option === value} onChange={() => change(option)} />
            {word}
          </label>
        ))}
      </div>
    </div>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex gap-4">
      <dt className="w-32 shrink-0 text-ink-2">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function SettingsPage() {
  const t = useT();
  const { locale, theme, density } = useSettings();
  const zone = useZone();
  const navigate = useNavigate();
  const viewer = useStore(session)?.viewer;
  const changeZone = (chosen: Zone) => {
    changeSettings({ zone: chosen });
    // The address has the zone too, so that a link shows the same.
    void navigate({ to: ".", search: { tz: chosen === DEFAULT_ZONE ? undefined : chosen } as never });
  };
  return (
    <>
      <PageTitle title={t.nav.settings} />
      <div className="min-h-0 flex-1 overflow-auto bg-ground-2 p-3">
        <div className="grid max-w-5xl gap-3 lg:grid-cols-2">
          <Panel title={t.nav.settings} note={t.settings.kept}>
            <div className="space-y-2 p-3">
              <Choice<Locale>
                label={t.settings.language}
                value={locale}
                options={[
                  ["ko", "한국어"],
                  ["en", "English"],
                ]}
                change={(chosen) => changeSettings({ locale: chosen })}
              />
              <Choice<Zone>
                label={t.settings.zone}
                value={zone}
                options={ZONES.map((one) => [
                  one,
                  one === "browser" ? `${t.settings.zones[one]} (${zoneName(one)})` : (t.settings.zones[one] ?? one),
                ])}
                change={changeZone}
              />
              <p className="ml-[96px] text-xs text-ink-2">{t.settings.zoneNote}</p>
              <Choice<Theme>
                label={t.settings.theme}
                value={theme}
                options={(["system", "light", "dark"] as const).map((one) => [one, t.settings.themes[one] ?? one])}
                change={(chosen) => changeSettings({ theme: chosen })}
              />
              <Choice<Density>
                label={t.settings.density}
                value={density}
                options={(["compact", "comfortable"] as const).map((one) => [one, t.settings.densities[one] ?? one])}
                change={(chosen) => changeSettings({ density: chosen })}
              />
            </div>
          </Panel>
          <Panel title={t.settings.account}>
            <dl className="space-y-2 p-3">
              <Row name={t.settings.account}>
                {viewer?.name ? `${viewer.name} (${viewer.subject})` : viewer?.subject}
              </Row>
              <Row name={t.settings.roles}>{viewer?.roles.join(", ")}</Row>
              <Row name={t.settings.until}>
                <Time at={viewer?.expiresAt} />
              </Row>
            </dl>
          </Panel>
          <Panel title={t.settings.shortcuts} note={t.keys.zoneNote}>
            <div className="p-3">
              <Shortcuts />
            </div>
          </Panel>
        </div>
      </div>
    </>
  );
}
