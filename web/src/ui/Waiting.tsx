import { Link } from "@tanstack/react-router";
import { Hourglass } from "lucide-react";
import type { SentEventFragment, WaitFragment } from "@/gql/graphql";
import { useT } from "@/i18n";
import type { Dictionary } from "@/i18n/en";
import { absolute } from "@/lib/time";
import { useZone } from "./zone";

interface Props {
  wait: WaitFragment | null | undefined;
  /** What tells of the row: as long as it is not told, the row is not done with. */
  events?: SentEventFragment[];
  /** Those under way. */
  refunds?: { id: string; status: string; waitingFor: WaitFragment | null }[];
}

/** Why a row is where it is, in a sentence; and why those who should know of it do not yet. */
export function Waiting({ wait, events = [], refunds = [] }: Props) {
  const t = useT();
  const untold = events.filter((event) => event.waitingFor);
  return (
    <>
      {refunds.map((refund) => (
        <div key={refund.id} className="border-b border-line">
          <p className="px-3 pt-3">
            <Link to="/refunds/$id" params={{ id: refund.id }} className="link">
              {`${t.thing.refund} ${refund.id}`}
            </Link>{" "}
            {t.status[refund.status]}
          </p>
          {refund.waitingFor ? <Wait wait={refund.waitingFor} /> : <p className="p-3">{t.refusedBecause.underWay}</p>}
        </div>
      ))}
      {wait ? (
        <Wait wait={wait} />
      ) : refunds.length > 0 && untold.length === 0 ? null : (
        <p className="p-3 text-ink-2">{untold.length > 0 ? t.wait.told : t.detail.done}</p>
      )}
      {untold.map((event) => (
        <div key={event.id} className="border-t border-line">
          <p className="px-3 pt-3">
            <Link to="/outbox/$id" params={{ id: event.id }} className="link mono">
              {event.eventType}
            </Link>{" "}
            {t.status[event.status]}
          </p>
          {event.waitingFor ? <Wait wait={event.waitingFor} /> : null}
        </div>
      ))}
    </>
  );
}

function Wait({ wait }: { wait: WaitFragment }) {
  const t = useT();
  const zone = useZone();
  const until = wait.until ? absolute(wait.until, zone) : t.wait.soon;
  const since = wait.since ? absolute(wait.since, zone) : "–";
  const sentence = inWords(wait, t, until, since);
  const showsCause = wait.detail && (wait.reason === "BACKOFF" || wait.reason === "NEEDS_OPERATOR");
  return (
    <div className="flex gap-2 p-3" data-waiting={wait.reason}>
      <Hourglass size={14} className="mt-0.5 shrink-0 text-ink-2" aria-hidden="true" />
      <div>
        <p>{sentence}</p>
        {showsCause ? <p className="mt-0.5 text-ink-2">{t.wait.cause(wait.detail ?? "")}</p> : null}
        {wait.since && wait.reason !== "CLAIMED" ? (
          <p className="mt-0.5 text-xs text-ink-2">{t.wait.since(since)}</p>
        ) : null}
      </div>
    </div>
  );
}

function inWords(wait: WaitFragment, t: Dictionary, until: string, since: string): string {
  switch (wait.reason) {
    case "NEXT_POLL":
      return t.wait.NEXT_POLL();
    case "BACKOFF":
      return t.wait.BACKOFF(until);
    case "CLAIMED":
      return t.wait.CLAIMED(wait.detail ?? "–", since);
    case "BROKER_DOWN":
      return t.wait.BROKER_DOWN(wait.detail ?? t.wait.unknown);
    case "NO_ACTIVE_PROMOTION":
      return t.wait.NO_ACTIVE_PROMOTION();
    case "NEEDS_OPERATOR":
      return t.wait.NEEDS_OPERATOR();
    case "PROVIDER_UNKNOWN":
      return t.wait.PROVIDER_UNKNOWN(until);
  }
}
