import { Calls, Detail, Facts, Failures, Panel, RelatedRows } from "@/features/detail/parts";
import { operate, outcome, useLiveRow } from "@/features/detail/useLiveRow";
import {
  PaymentChangedDocument,
  type PaymentDetailFragment,
  PaymentDocument,
  ReconcilePaymentDocument,
  RefundPaymentDocument,
} from "@/gql/graphql";
import { useT } from "@/i18n";
import type { Dictionary } from "@/i18n/en";
import { gql } from "@/lib/gql";
import { type Act, Actions } from "@/ui/Actions";
import { CopyId } from "@/ui/CopyId";
import { Money } from "@/ui/Money";
import { Time } from "@/ui/Time";
import { eventMoments, type Moment, Timeline } from "@/ui/Timeline";
import { Waiting } from "@/ui/Waiting";

const load = async (id: string, signal: AbortSignal) => (await gql(PaymentDocument, { id }, signal)).payment;

/** Its own, and those of the events that tell of it. */
function failures(payment: PaymentDetailFragment) {
  return [...payment.failures, ...payment.outboxEvents.flatMap((event) => event.failures)];
}

function moments(payment: PaymentDetailFragment, t: Dictionary): Moment[] {
  return [
    { at: payment.createdAt, title: `${t.thing.payment} ${t.status.PENDING}`, status: "PENDING", of: "payment" },
    ...payment.providerCalls.map(
      (call): Moment => ({
        at: call.at,
        title: `${call.provider} ${call.operation}`,
        detail: call.code,
        status: call.outcome,
        of: "call",
      }),
    ),
    ...failures(payment).map(
      (failure): Moment => ({
        at: failure.occurredAt,
        title: t.kind[failure.kind] ?? failure.kind,
        detail: failure.message,
        status: failure.severity,
        of: "failure",
      }),
    ),
    ...(payment.completedAt
      ? [
          {
            at: payment.completedAt,
            title: `${t.thing.payment} ${t.status.COMPLETED}`,
            status: "COMPLETED",
            of: "payment",
          } satisfies Moment,
        ]
      : []),
    ...payment.outboxEvents.flatMap((event) => eventMoments(event, t)),
    ...payment.refunds.map(
      (refund): Moment => ({
        at: refund.completedAt ?? refund.createdAt,
        title: `${t.thing.refund} ${t.status[refund.status]}`,
        detail: refund.reason,
        status: refund.status,
        of: "refund",
        to: `/refunds/${refund.id}`,
      }),
    ),
  ];
}

function acts(payment: PaymentDetailFragment, t: Dictionary): Act[] {
  return payment.availableActions.map((action) => ({
    action,
    danger: action.action === "refundPayment",
    ends: action.action === "refundPayment" ? ["COMPLETED"] : ["COMPLETED", "FAILED", "REFUNDED"],
    facts: [
      [t.field.amount, <Money key="amount" amount={payment.amount} />],
      [t.field.orderName, payment.orderName],
      [t.field.orderId, payment.orderId],
      [t.field.userId, payment.userId],
    ],
    run: async (reason, attempt) => {
      if (action.action === "refundPayment") {
        const input = { paymentId: payment.id, reason, idempotencyKey: `console-${attempt}` };
        const { result } = await gql(RefundPaymentDocument, { input });
        return outcome(result, result.refund);
      }
      const result = await operate(ReconcilePaymentDocument, payment.id, reason);
      return outcome(result, result.payment);
    },
  }));
}

export function PaymentPage({ id }: { id: string }) {
  const t = useT();
  const query = useLiveRow("payments", id, load, PaymentChangedDocument);
  return (
    <Detail
      query={query}
      id={id}
      list={{ path: "/payments", title: t.nav.payments }}
      thing={t.thing.payment}
      of="payment"
    >
      {(payment) => ({
        main: (
          <>
            <Panel title={t.detail.timeline}>
              <Timeline moments={moments(payment, t)} />
            </Panel>
            <Panel title={t.detail.calls}>
              <Calls calls={payment.providerCalls} />
            </Panel>
            <Panel title={t.detail.failures}>
              <Failures failures={failures(payment)} />
            </Panel>
          </>
        ),
        side: (
          <>
            <Panel title={t.detail.now}>
              <Waiting
                wait={payment.waitingFor}
                events={payment.outboxEvents}
                refunds={payment.refunds.filter((refund) => refund.status === "REQUESTED")}
              />
            </Panel>
            <Panel title={t.detail.actions}>
              <Actions acts={acts(payment, t)} what={`${t.thing.payment} ${id}`} status={payment.status} />
            </Panel>
            <Panel title={t.detail.facts}>
              <Facts
                facts={[
                  [t.field.amount, <Money key="amount" amount={payment.amount} />],
                  [t.field.orderName, payment.orderName],
                  [t.field.userId, <CopyId key="user" id={payment.userId} what={t.field.userId} />],
                  [t.field.meetingId, <CopyId key="meeting" id={payment.meetingId} what={t.field.meetingId} />],
                  [t.field.provider, payment.method ? `${payment.provider} · ${payment.method}` : payment.provider],
                  [t.field.failureCode, payment.failureCode && <span className="mono">{payment.failureCode}</span>],
                  [t.field.failureMessage, payment.failureMessage],
                  [t.field.requestedAt, <Time key="requested" at={payment.requestedAt} />],
                  [t.field.completedAt, payment.completedAt && <Time key="completed" at={payment.completedAt} />],
                  [t.field.updatedAt, <Time key="updated" at={payment.updatedAt} />],
                  [t.field.orderId, <CopyId key="order" id={payment.orderId} what={t.field.orderId} />],
                  [
                    t.field.paymentKey,
                    payment.paymentKey && <CopyId key="key" id={payment.paymentKey} what={t.field.paymentKey} />,
                  ],
                  [t.field.flowId, <CopyId key="flow" id={payment.flowId} what={t.field.flowId} />],
                ]}
              />
            </Panel>
            <Panel title={t.detail.events}>
              <RelatedRows rows={payment.outboxEvents} to="/outbox" of="event" label={(event) => event.eventType} />
            </Panel>
            <Panel title={t.detail.refunds}>
              <RelatedRows
                rows={payment.refunds}
                to="/refunds"
                of="refund"
                label={(refund) => `${t.thing.refund} ${refund.id}`}
              />
            </Panel>
          </>
        ),
      })}
    </Detail>
  );
}
