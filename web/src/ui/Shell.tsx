import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { Keyboard, Languages, LogOut } from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { latestOverview, needsPerson, useLiveOverview } from "@/features/overview/latest";
import { useT } from "@/i18n";
import { useHotkeys } from "@/lib/hotkeys";
import { type Session, signOut, type Viewer } from "@/lib/session";
import { changeSettings, DEFAULT_ZONE, useSettings, ZONES, type Zone } from "@/lib/settings";
import { useStore } from "@/lib/store";
import { relative } from "@/lib/time";
import { disconnect } from "@/lib/ws";
import { EnvironmentBar } from "./EnvironmentBar";
import { errorLine } from "./Messages";
import { Notices, warn } from "./Notices";
import { PLACES } from "./places";
import { useZone } from "./zone";

/** Loaded when it is asked for. */
const Help = lazy(() => import("./Help"));

/** Warned of before the session ends. */
const SOON_MS = 5 * 60_000;

export function Shell({ session, viewer }: { session: Session; viewer: Viewer }) {
  const t = useT();
  const navigate = useNavigate();
  const [isHelpOpen, setHelpOpen] = useState(false);
  useLiveOverview();
  const go = Object.fromEntries(
    PLACES.map(({ letter, to }) => [`g Key${letter.toUpperCase()}`, () => void navigate({ to })]),
  );
  useHotkeys({ ...go, "shift Slash": () => setHelpOpen(true) });
  return (
    <div className="flex h-dvh flex-col">
      <a href="#content" className="sr-only focus:not-sr-only">
        {t.nav.skip}
      </a>
      <EnvironmentBar environment={session.environment} />
      <EndsSoon viewer={viewer} />
      <div className="flex min-h-0 flex-1">
        <nav
          aria-label={t.nav.main}
          className="flex w-56 shrink-0 flex-col gap-3 overflow-y-auto border-r border-line bg-ground-2 p-2 max-md:w-36"
        >
          <p className="px-2 pt-1 pb-3 text-base font-semibold">Paydesk</p>
          <ul className="space-y-0.5">
            {PLACES.map(({ to, name, icon: Icon, letter }) => (
              <li key={to} className="relative">
                <Link
                  to={to}
                  activeOptions={{ exact: to === "/" }}
                  className="flex h-8 items-center gap-2 rounded-md px-2 whitespace-nowrap text-ink-2 hover:bg-ground-3 hover:text-ink"
                  activeProps={{ className: "bg-ground-3 text-ink! font-medium" }}
                  aria-keyshortcuts={`g ${letter}`}
                >
                  <Icon size={15} aria-hidden="true" />
                  <span className="min-w-0 flex-1 truncate">{t.nav[name]}</span>
                </Link>
                <Badge place={name} to={to} />
              </li>
            ))}
          </ul>
          <Foot viewer={viewer} help={() => setHelpOpen(true)} />
        </nav>
        <main id="content" tabIndex={-1} className="flex min-w-0 flex-1 flex-col outline-none">
          <Outlet />
        </main>
      </div>
      <Notices />
      <Suspense>{isHelpOpen ? <Help close={() => setHelpOpen(false)} /> : null}</Suspense>
    </div>
  );
}

/** How many there need a person, and the way to just these. */
function Badge({ place, to }: { place: string; to: string }) {
  const t = useT();
  const need = needsPerson(useStore(latestOverview).overview, place);
  if (!need || need.count === 0) return null;
  return (
    <Link
      to={to as never}
      search={{ status: need.status } as never}
      className="absolute top-1.5 right-2 rounded-md bg-bad-ground px-1.5 text-xs leading-5 font-semibold text-bad hover:underline"
      title={t.status[need.status]}
    >
      {need.count > 999 ? "999+" : need.count}
      <span className="sr-only">{` ${t.status[need.status]}`}</span>
    </Link>
  );
}

function Foot({ viewer, help }: { viewer: Viewer; help: () => void }) {
  const t = useT();
  const { locale } = useSettings();
  const zone = useZone();
  const navigate = useNavigate();
  const changeZone = (chosen: Zone) => {
    changeSettings({ zone: chosen });
    void navigate({
      to: ".",
      search: (known: object) => ({ ...known, tz: chosen === DEFAULT_ZONE ? undefined : chosen }) as never,
    });
  };
  const leave = async () => {
    try {
      await signOut();
      disconnect();
    } catch (error) {
      warn(`${t.session.signOut}: ${errorLine(error, t)}`);
    }
  };
  const other = locale === "ko" ? "en" : "ko";
  return (
    <div className="mt-auto space-y-2">
      <select
        className="field w-full"
        aria-label={t.settings.zone}
        title={t.settings.zoneNote}
        value={zone}
        onChange={(event) => changeZone(event.target.value as Zone)}
      >
        {ZONES.map((one) => (
          <option key={one} value={one}>
            {t.settings.zones[one]}
          </option>
        ))}
      </select>
      <div className="flex gap-1">
        <button type="button" className="button flex-1" lang={other} onClick={() => changeSettings({ locale: other })}>
          <Languages size={13} aria-hidden="true" />
          {other === "ko" ? "한국어" : "English"}
        </button>
        <button type="button" className="button" aria-label={t.keys.help} title={t.keys.help} onClick={help}>
          <Keyboard size={13} aria-hidden="true" />
        </button>
      </div>
      <div className="flex items-center gap-1 border-t border-line pt-2">
        <div className="min-w-0 flex-1 px-1">
          <p className="truncate font-medium" title={viewer.subject}>
            {viewer.name ?? viewer.subject}
          </p>
          <p className="text-xs text-ink-2">
            {viewer.roles.includes("ADMIN") ? "ADMIN" : `OPERATOR · ${t.session.readOnly}`}
          </p>
        </div>
        <button
          type="button"
          className="button size-7! p-0!"
          aria-label={t.session.signOut}
          title={t.session.signOut}
          onClick={() => void leave()}
        >
          <LogOut size={13} aria-hidden="true" />
        </button>
      </div>
    </div>
  );
}

function EndsSoon({ viewer }: { viewer: Viewer }) {
  const t = useT();
  const { locale } = useSettings();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 15_000);
    return () => clearInterval(timer);
  }, []);
  if (Date.parse(viewer.expiresAt) - now > SOON_MS) return null;
  return (
    <p role="status" className="bg-warn-ground px-4 py-1 text-center text-warn">
      {t.session.endsSoon(relative(viewer.expiresAt, locale, now))}
    </p>
  );
}
