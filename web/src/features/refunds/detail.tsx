import { Calls, Detail, Facts, Failures, Panel, RelatedRows } from "@/features/detail/parts";
import { operate, outcome, useLiveRow } from "@/features/detail/useLiveRow";
import { RefundChangedDocument, type RefundDetailFragment, RefundDocument, RetryRefundDocument } from "@/gql/graphql";
import { useT } from "@/i18n";
import type { Dictionary } from "@/i18n/en";
import { gql } from "@/lib/gql";
import { type Act, Actions } from "@/ui/Actions";
import { CopyId } from "@/ui/CopyId";
import { Money } from "@/ui/Money";
import { Time } from "@/ui/Time";
import { eventMoments, type Moment, Timeline } from "@/ui/Timeline";
import { Waiting } from "@/ui/Waiting";

const load = async (id: string, signal: AbortSignal) => (await gql(RefundDocument, { id }, signal)).refund;

/** Its own, and those of the events that tell of it. */
function failures(refund: RefundDetailFragment) {
  return [...refund.failures, ...refund.outboxEvents.flatMap((event) => event.failures)];
}

function moments(refund: RefundDetailFragment, t: Dictionary): Moment[] {
  return [
    {
      at: refund.createdAt,
      title: `${t.thing.refund} ${t.status.REQUESTED}`,
      detail: refund.reason,
      status: "REQUESTED",
      of: "refund",
    },
    ...refund.providerCalls.map(
      (call): Moment => ({
        at: call.at,
        title: `${call.provider} ${call.operation}`,
        detail: call.code,
        status: call.outcome,
        of: "call",
      }),
    ),
    ...failures(refund).map(
      (failure): Moment => ({
        at: failure.occurredAt,
        title: t.kind[failure.kind] ?? failure.kind,
        detail: failure.message,
        status: failure.severity,
        of: "failure",
      }),
    ),
    ...(refund.completedAt
      ? [
          {
            at: refund.completedAt,
            title: `${t.thing.refund} ${t.status.COMPLETED}`,
            status: "COMPLETED",
            of: "refund",
          } satisfies Moment,
        ]
      : []),
    ...refund.outboxEvents.flatMap((event) => eventMoments(event, t)),
  ];
}

function acts(refund: RefundDetailFragment, t: Dictionary): Act[] {
  return refund.availableActions.map((action) => ({
    action,
    ends: ["COMPLETED"],
    facts: [
      [t.field.amount, <Money key="amount" amount={refund.amount} />],
      [t.field.orderName, refund.payment.orderName],
      [t.field.userId, refund.userId],
    ],
    run: async (reason) => {
      const result = await operate(RetryRefundDocument, refund.id, reason);
      return outcome(result, result.refund);
    },
  }));
}

export function RefundPage({ id }: { id: string }) {
  const t = useT();
  const query = useLiveRow("refunds", id, load, RefundChangedDocument);
  return (
    <Detail query={query} id={id} list={{ path: "/refunds", title: t.nav.refunds }} thing={t.thing.refund} of="refund">
      {(refund) => ({
        main: (
          <>
            <Panel title={t.detail.timeline}>
              <Timeline moments={moments(refund, t)} />
            </Panel>
            <Panel title={t.detail.calls}>
              <Calls calls={refund.providerCalls} />
            </Panel>
            <Panel title={t.detail.failures}>
              <Failures failures={failures(refund)} />
            </Panel>
          </>
        ),
        side: (
          <>
            <Panel title={t.detail.now}>
              <Waiting wait={refund.waitingFor} events={refund.outboxEvents} />
            </Panel>
            <Panel title={t.detail.actions}>
              <Actions acts={acts(refund, t)} what={`${t.thing.refund} ${id}`} status={refund.status} />
            </Panel>
            <Panel title={t.detail.facts}>
              <Facts
                facts={[
                  [t.field.amount, <Money key="amount" amount={refund.amount} />],
                  [t.field.reason, refund.reason],
                  [t.field.source, t.source[refund.source]],
                  [
                    t.field.requestedBy,
                    <span key="by" className="mono">
                      {refund.requestedBy}
                    </span>,
                  ],
                  [t.field.userId, <CopyId key="user" id={refund.userId} what={t.field.userId} />],
                  [t.field.meetingId, <CopyId key="meeting" id={refund.meetingId} what={t.field.meetingId} />],
                  [t.field.attemptCount, refund.attemptCount],
                  [t.field.failureCode, refund.failureCode && <span className="mono">{refund.failureCode}</span>],
                  [t.field.failureMessage, refund.failureMessage],
                  [t.field.createdAt, <Time key="created" at={refund.createdAt} />],
                  [t.field.completedAt, refund.completedAt && <Time key="completed" at={refund.completedAt} />],
                  [t.field.updatedAt, <Time key="updated" at={refund.updatedAt} />],
                  [
                    t.field.providerTransactionKey,
                    refund.providerTransactionKey && (
                      <CopyId key="tx" id={refund.providerTransactionKey} what={t.field.providerTransactionKey} />
                    ),
                  ],
                  [t.field.flowId, <CopyId key="flow" id={refund.flowId} what={t.field.flowId} />],
                ]}
              />
            </Panel>
            <Panel title={t.detail.payment}>
              <RelatedRows
                rows={[refund.payment]}
                to="/payments"
                of="payment"
                label={(payment) => `${t.thing.payment} ${payment.id} · ${payment.orderName}`}
              />
            </Panel>
            <Panel title={t.detail.events}>
              <RelatedRows rows={refund.outboxEvents} to="/outbox" of="event" label={(event) => event.eventType} />
            </Panel>
          </>
        ),
      })}
    </Detail>
  );
}
