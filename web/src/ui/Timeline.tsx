import { Link } from "@tanstack/react-router";
import type { SentEventFragment } from "@/gql/graphql";
import type { Dictionary } from "@/i18n/en";
import { lookOf, type Of, type Tone } from "./status";
import { Time } from "./Time";

export interface Moment {
  at: string;
  title: string;
  detail?: string | null;
  /** The state that it led to. */
  status?: string;
  of?: Of;
  to?: string;
}

/** That an event was written, and how it stands since when. */
export function eventMoments(event: SentEventFragment, t: Dictionary): Moment[] {
  const moment = (status: string, at: string): Moment => ({
    at,
    title: `${event.eventType} ${t.status[status]}`,
    status,
    of: "event",
    to: `/outbox/${event.id}`,
  });
  const written = moment("PENDING", event.createdAt);
  if (event.status === "PENDING") return [written];
  return [written, moment(event.status, event.publishedAt ?? event.updatedAt)];
}

const DOTS: Record<Tone, string> = {
  neutral: "text-neutral",
  info: "text-info",
  ok: "text-ok",
  warn: "text-warn",
  bad: "text-bad",
  paused: "text-paused",
};

/** What happened, the oldest first. */
export function Timeline({ moments }: { moments: Moment[] }) {
  const ordered = moments.filter(({ at }) => at).sort((a, b) => a.at.localeCompare(b.at));
  return (
    <ol className="p-3">
      {ordered.map((moment, index) => {
        const { tone, icon: Icon } = lookOf(moment.status ?? "PENDING", moment.of ?? "event");
        return (
          <li
            key={`${moment.at} ${moment.title} ${moment.to ?? ""} ${moment.detail ?? ""}`}
            className="relative flex gap-3 pb-3 last:pb-0"
          >
            {index < ordered.length - 1 ? (
              <span className="absolute top-5 bottom-0 left-[6.5px] w-px bg-line-2" />
            ) : null}
            <Icon size={14} aria-hidden="true" className={`mt-0.5 shrink-0 ${DOTS[tone]}`} />
            <div className="min-w-0 flex-1">
              <div className="flex flex-wrap items-baseline gap-x-3">
                {moment.to ? (
                  <Link to={moment.to} className="link font-medium">
                    {moment.title}
                  </Link>
                ) : (
                  <span className="font-medium">{moment.title}</span>
                )}
                <Time at={moment.at} className="text-xs text-ink-2" />
              </div>
              {moment.detail ? <p className="text-ink-2">{moment.detail}</p> : null}
            </div>
          </li>
        );
      })}
    </ol>
  );
}
