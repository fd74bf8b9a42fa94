import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleX, type LucideIcon, Mail, Plug, Timer, TimerOff } from "lucide-react";
import type { ReactNode } from "react";
import type { OverviewChangedSubscription, StatusCountedFragment } from "@/gql/graphql";
import { useT } from "@/i18n";
import { useHotkeys } from "@/lib/hotkeys";
import { whole } from "@/lib/money";
import { useSettings } from "@/lib/settings";
import { useStore } from "@/lib/store";
import { duration } from "@/lib/time";
import { Chart } from "@/ui/Chart";
import { LiveIndicator, PauseButton, paused } from "@/ui/Live";
import { StaleNotice } from "@/ui/Messages";
import { PageTitle } from "@/ui/PageTitle";
import { StatusChip } from "@/ui/StatusChip";
import type { Of, Tone } from "@/ui/status";
import { Time } from "@/ui/Time";
import { Books } from "./Books";
import { LiveFeed } from "./Feed";
import { latestOverview, retryOverview } from "./latest";

type Overview = OverviewChangedSubscription["overview"];

/** An unpublished event that is older than this needs a look. */
const OLD_SECONDS = 60;

export function OverviewPage() {
  const t = useT();
  const { overview, error } = useStore(latestOverview);
  useHotkeys({ KeyP: () => paused.set(!paused.get()) });
  return (
    <>
      <PageTitle title={t.nav.overview}>
        {overview ? (
          <span className="text-xs text-ink-2">
            <AsOf at={overview.asOf} />
          </span>
        ) : null}
        <LiveIndicator />
        <PauseButton />
      </PageTitle>
      <div className="min-h-0 flex-1 overflow-auto bg-ground-2 p-3" aria-busy={!overview}>
        <div className="grid gap-3 lg:grid-cols-4">
          <Tiles overview={overview} />
        </div>
        <div className="mt-3 grid gap-3 lg:grid-cols-2">
          <Rate title={t.overview.published} points={overview?.publishedPerMinute} colour="--ok" />
          <Rate title={t.overview.failed} points={overview?.failuresPerMinute} colour="--bad" />
        </div>
        <div className="mt-3 grid gap-3 lg:grid-cols-2">
          <States title={t.nav.outbox} to="/outbox" of="event" counts={overview?.outbox} />
          <States title={t.nav.payments} to="/payments" of="payment" counts={overview?.payments} />
          <States title={t.nav.refunds} to="/refunds" of="refund" counts={overview?.refunds} />
          <States
            title={t.nav.chargeJobs}
            to="/charge-jobs"
            of="job"
            counts={overview?.chargeJobs}
            note={overview && overview.strandedJobs > 0 ? t.charge.stranded(String(overview.strandedJobs)) : undefined}
          />
        </div>
        <Books />
        <LiveFeed />
      </div>
      {error ? <StaleNotice error={error} retry={retryOverview} /> : null}
    </>
  );
}

function AsOf({ at }: { at: string }) {
  const t = useT();
  const [before, after] = t.overview.asOf("\u0000").split("\u0000");
  return (
    <>
      {before}
      <Time at={at} />
      {after}
    </>
  );
}

const TONES: Record<Tone, string> = {
  neutral: "text-ink",
  info: "text-info",
  ok: "text-ok",
  warn: "text-warn",
  bad: "text-bad",
  paused: "text-paused",
};

function Tile({
  title,
  tone,
  icon: Icon,
  children,
  note,
}: {
  title: string;
  tone: Tone;
  icon: LucideIcon;
  children: ReactNode;
  note?: ReactNode;
}) {
  return (
    <section className="panel px-3 py-2" data-tone={tone}>
      <h2 className="border-0! p-0! text-xs text-ink-2">{title}</h2>
      <p className={`flex min-h-7 items-center gap-2 text-xl font-semibold ${TONES[tone]}`}>
        <Icon size={18} aria-hidden="true" />
        {children}
      </p>
      <p className="min-h-4 text-xs text-ink-2">{note}</p>
    </section>
  );
}

function Tiles({ overview }: { overview: Overview | undefined }) {
  const t = useT();
  const { locale } = useSettings();
  const age = overview?.oldestPendingAgeSeconds;
  const isOld = age !== null && age !== undefined && age > OLD_SECONDS;
  const { p50, p99 } = overview?.publishLatencyMs ?? {};
  const has = <T,>(value: T | null | undefined): value is T => value !== null && value !== undefined;
  const wait = <span className="skeleton block h-4! w-16" />;
  return (
    <>
      <Tile
        title={t.overview.oldest}
        tone={isOld ? "bad" : "neutral"}
        icon={isOld ? TimerOff : Timer}
        note={has(age) ? undefined : overview && t.overview.none}
      >
        {overview ? (has(age) ? duration(age * 1_000) : "–") : wait}
      </Tile>
      <Tile
        title={t.overview.latency}
        tone="neutral"
        icon={Timer}
        note={has(p99) ? `${t.overview.p99(duration(p99))} · ${t.overview.lately}` : overview && t.overview.lately}
      >
        {overview ? has(p50) ? <span title={t.overview.p50(duration(p50))}>{duration(p50)}</span> : "–" : wait}
      </Tile>
      <Tile
        title={t.overview.deadLetters}
        tone={overview && overview.openDeadLetters > 0 ? "bad" : "neutral"}
        icon={Mail}
        note={
          overview && overview.openDeadLetters > 0 ? (
            <Link to="/dead-letters" search={{ status: "OPEN" } as never} className="link">
              {t.status.OPEN}
            </Link>
          ) : null
        }
      >
        {overview
          ? `${whole(Math.min(overview.openDeadLetters, 10_000), locale)}${overview.openDeadLetters > 10_000 ? "+" : ""}`
          : wait}
      </Tile>
      <Tile
        title={t.overview.broker}
        tone={overview ? (overview.brokerConnected ? "ok" : "bad") : "neutral"}
        icon={overview ? (overview.brokerConnected ? CircleCheck : CircleX) : Plug}
      >
        {overview ? (overview.brokerConnected ? t.overview.up : t.overview.down) : wait}
      </Tile>
    </>
  );
}

function Rate({
  title,
  points,
  colour,
}: {
  title: string;
  points: Overview["publishedPerMinute"] | undefined;
  colour: string;
}) {
  const t = useT();
  const { locale } = useSettings();
  const now = points?.at(-1)?.value ?? 0;
  const peak = Math.max(0, ...(points ?? []).map(({ value }) => value));
  return (
    <section className="panel">
      <h2 className="flex items-baseline">
        {title}
        <span className="ml-auto font-normal">
          {points ? `${t.overview.now} ${whole(now, locale)} · ${t.overview.peak(whole(peak, locale))}` : ""}
        </span>
      </h2>
      <div className="px-1 pb-1">
        <Chart
          points={points ?? []}
          colour={colour}
          label={t.overview.chart(title, whole(now, locale), whole(peak, locale))}
        />
      </div>
    </section>
  );
}

function States({
  title,
  to,
  of,
  counts,
  note,
}: {
  title: string;
  to: string;
  of: Of;
  counts: StatusCountedFragment[] | undefined;
  note?: string | undefined;
}) {
  const { locale } = useSettings();
  return (
    <section className="panel">
      <h2>
        {title}
        {note ? <span className="ml-2 font-normal text-warn">{note}</span> : null}
      </h2>
      <ul className="flex flex-wrap gap-x-5 gap-y-1 px-3 py-2">
        {counts?.map(({ status, count }) => (
          <li key={status}>
            <Link
              to={to as never}
              search={{ status } as never}
              className="inline-flex h-6 items-center gap-2 rounded-md hover:underline"
            >
              <StatusChip status={status} of={of} />
              <span className="font-semibold">{`${whole(count.value, locale)}${count.precision === "AT_LEAST" ? "+" : ""}`}</span>
            </Link>
          </li>
        )) ?? (
          <li className="flex h-6 items-center">
            <span className="skeleton block w-40" />
          </li>
        )}
      </ul>
    </section>
  );
}
