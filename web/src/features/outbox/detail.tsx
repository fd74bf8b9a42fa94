import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import { Detail, Facts, Failures, Nothing, Panel, Scroll } from "@/features/detail/parts";
import { operate, outcome, useLiveRow } from "@/features/detail/useLiveRow";
import {
  type OutboxDetailFragment,
  OutboxEventChangedDocument,
  OutboxEventDocument,
  OutboxPayloadDocument,
  RequeueOutboxEventDocument,
} from "@/gql/graphql";
import { useT } from "@/i18n";
import type { Dictionary } from "@/i18n/en";
import { gql } from "@/lib/gql";
import { duration } from "@/lib/time";
import { type Act, Actions } from "@/ui/Actions";
import { CopyId } from "@/ui/CopyId";
import { JsonView } from "@/ui/JsonView";
import { ErrorText } from "@/ui/Messages";
import { StatusChip } from "@/ui/StatusChip";
import { Time } from "@/ui/Time";
import { type Moment, Timeline } from "@/ui/Timeline";
import { Waiting } from "@/ui/Waiting";
import { isUnheard, LastError } from "./list";

const load = async (id: string, signal: AbortSignal) => (await gql(OutboxEventDocument, { id }, signal)).outboxEvent;

function moments(event: OutboxDetailFragment, t: Dictionary): Moment[] {
  return [
    { at: event.createdAt, title: `${event.eventType} ${t.status.PENDING}`, status: "PENDING", of: "event" },
    ...event.attempts.map(
      (attempt): Moment => ({
        at: attempt.finishedAt,
        title: `${t.field.number} ${attempt.number}: ${t.status[attempt.outcome]}`,
        detail: [t.trigger[attempt.trigger], attempt.error].filter(Boolean).join(" · "),
        status: attempt.outcome,
        of: "attempt",
      }),
    ),
  ];
}

/** What to do before an event is sent again. */
function hint({ exchange, routingKey, lastErrorCode }: OutboxDetailFragment, t: Dictionary): string | undefined {
  if (lastErrorCode === "UNROUTABLE") return t.outbox.bindFirst(exchange, routingKey);
  return lastErrorCode === "EXCHANGE_MISSING" ? t.outbox.declareFirst(exchange) : undefined;
}

function acts(event: OutboxDetailFragment, t: Dictionary): Act[] {
  return event.availableActions.map((action) => ({
    action,
    hint: hint(event, t),
    run: async (reason) => {
      const result = await operate(RequeueOutboxEventDocument, event.id, reason);
      return outcome(result, result.outboxEvent);
    },
  }));
}

function Attempts({ event }: { event: OutboxDetailFragment }) {
  const t = useT();
  if (event.attempts.length === 0) return <Nothing />;
  return (
    <Scroll label={t.detail.attempts}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col" className="text-right!">
              {t.field.number}
            </th>
            <th scope="col">{t.field.at}</th>
            <th scope="col">{t.field.outcome}</th>
            <th scope="col">{t.field.trigger}</th>
            <th scope="col" className="text-right!">
              {t.field.took}
            </th>
            <th scope="col">{t.field.worker}</th>
          </tr>
        </thead>
        <tbody>
          {event.attempts.map((attempt) => (
            <Fragment key={`${attempt.number} ${attempt.finishedAt}`}>
              <tr className={attempt.error ? "[&>td]:border-b-0" : ""}>
                <td className="text-right">{attempt.number}</td>
                <td>
                  <Time at={attempt.startedAt} />
                </td>
                <td>
                  <StatusChip status={attempt.outcome} of="attempt" />
                </td>
                <td>{t.trigger[attempt.trigger]}</td>
                <td className="text-right">
                  {duration(Date.parse(attempt.finishedAt) - Date.parse(attempt.startedAt))}
                </td>
                <td className="mono">{attempt.worker}</td>
              </tr>
              {attempt.error ? (
                <tr>
                  <td />
                  <td colSpan={5} className="wrap pt-0! text-ink-2">
                    {attempt.error}
                  </td>
                </tr>
              ) : null}
            </Fragment>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** The body never changes: read once. */
function Payload({ id }: { id: string }) {
  const t = useT();
  const query = useQuery({
    queryKey: ["events", "payload", id],
    queryFn: async ({ signal }) => (await gql(OutboxPayloadDocument, { id }, signal)).outboxEvent?.payloadText ?? "",
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (query.error) {
    return (
      <div role="alert" className="p-3">
        <ErrorText error={query.error} />
      </div>
    );
  }
  return query.data === undefined ? (
    <div className="p-3">
      <div className="skeleton w-1/2" />
    </div>
  ) : (
    <JsonView text={query.data} what={t.detail.payload} />
  );
}

export function OutboxEventPage({ id }: { id: string }) {
  const t = useT();
  const query = useLiveRow("events", id, load, OutboxEventChangedDocument);
  return (
    <Detail query={query} id={id} list={{ path: "/outbox", title: t.nav.outbox }} thing={t.thing.event} of="event">
      {(event) => ({
        main: (
          <>
            <Panel title={t.detail.timeline}>
              <Timeline moments={moments(event, t)} />
            </Panel>
            <Panel title={t.detail.payload}>
              <Payload id={id} />
            </Panel>
            <Panel title={t.detail.attempts}>
              <Attempts event={event} />
            </Panel>
            <Panel title={t.detail.failures}>
              <Failures failures={event.failures} />
            </Panel>
          </>
        ),
        side: (
          <>
            <Panel title={t.detail.now}>
              <Waiting wait={event.waitingFor} />
            </Panel>
            <Panel title={t.detail.actions}>
              <Actions acts={acts(event, t)} what={`${t.thing.event} ${id}`} status={event.status} />
            </Panel>
            <Panel title={t.detail.facts}>
              <Facts
                facts={[
                  [
                    t.field.eventType,
                    <span key="type" className="mono">
                      {event.eventType}
                    </span>,
                  ],
                  [t.field.aggregate, <About key="about" event={event} />],
                  [
                    t.field.exchange,
                    <span key="exchange" className="mono">
                      {event.exchange}
                    </span>,
                  ],
                  [
                    t.field.routingKey,
                    <span key="key" className="mono">
                      {event.routingKey}
                    </span>,
                  ],
                  [t.field.retryCount, event.retryCount],
                  [t.field.attemptCount, event.attemptCount],
                  [
                    t.field.nextRetryAt,
                    event.status === "FAILED" && event.nextRetryAt ? <Time key="next" at={event.nextRetryAt} /> : null,
                  ],
                  [t.field.lastErrorCode, event.lastErrorCode && <LastError key="code" event={event} />],
                  [t.field.error, isUnheard(event) ? null : event.lastError],
                  [t.field.claimedBy, event.claimedBy && <span className="mono">{event.claimedBy}</span>],
                  [t.field.createdAt, <Time key="created" at={event.createdAt} />],
                  [t.field.publishedAt, event.publishedAt && <Time key="published" at={event.publishedAt} />],
                  [t.field.eventId, <CopyId key="event" id={event.eventId} what={t.field.eventId} />],
                  [
                    t.field.correlationId,
                    <CopyId key="correlation" id={event.correlationId} what={t.field.correlationId} />,
                  ],
                  [t.field.flowId, <CopyId key="flow" id={event.flowId} what={t.field.flowId} />],
                ]}
              />
            </Panel>
          </>
        ),
      })}
    </Detail>
  );
}

function About({ event }: { event: OutboxDetailFragment }) {
  const text = `${event.aggregateType} ${event.aggregateId}`;
  if (event.aggregateType !== "PAYMENT") return <span className="mono">{text}</span>;
  return (
    <Link to="/payments/$id" params={{ id: event.aggregateId }} className="link mono">
      {text}
    </Link>
  );
}
