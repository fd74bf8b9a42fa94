import { Calls, Detail, Facts, Failures, Panel, RelatedRows } from "@/features/detail/parts";
import { usePolledRow } from "@/features/detail/useLiveRow";
import { type ChargeDetailFragment, ChargeDocument } from "@/gql/graphql";
import { useT } from "@/i18n";
import type { Dictionary } from "@/i18n/en";
import { gql } from "@/lib/gql";
import { whole } from "@/lib/money";
import { useSettings } from "@/lib/settings";
import { CopyId } from "@/ui/CopyId";
import { Money } from "@/ui/Money";
import { Time } from "@/ui/Time";
import { type Moment, Timeline } from "@/ui/Timeline";
import { Can, ChargeKind, MemberLink } from "./list";

const load = async (id: string, signal: AbortSignal) => (await gql(ChargeDocument, { id }, signal)).charge;

function moments(charge: ChargeDetailFragment, t: Dictionary): Moment[] {
  return [
    { at: charge.createdAt, title: `${t.thing.charge} ${t.status.REQUEST}`, status: "REQUEST", of: "charge" },
    ...charge.providerCalls.map(
      (call): Moment => ({
        at: call.at,
        title: `${call.provider} ${call.operation}`,
        detail: call.code,
        status: call.outcome,
        of: "call",
      }),
    ),
    ...charge.failures.map(
      (failure): Moment => ({
        at: failure.occurredAt,
        title: t.kind[failure.kind] ?? failure.kind,
        detail: failure.message,
        status: failure.severity,
        of: "failure",
      }),
    ),
    ...(charge.completedAt
      ? [
          {
            at: charge.completedAt,
            title: `${t.thing.charge} ${t.status.COMPLETE}`,
            status: "COMPLETE",
            of: "charge",
          } satisfies Moment,
        ]
      : []),
    ...(charge.consumedAt
      ? [{ at: charge.consumedAt, title: t.field.consumedAt, status: "COMPLETE", of: "charge" } satisfies Moment]
      : []),
    ...charge.jobs.map(
      (job): Moment => ({
        at: job.createdAt,
        title: `${t.thing.job} ${t.status[job.status]}`,
        detail: t.charge[job.jobType],
        status: job.status,
        of: "job",
        to: `/charge-jobs/${job.id}`,
      }),
    ),
  ];
}

export function ChargePage({ id }: { id: string }) {
  const t = useT();
  const { locale } = useSettings();
  const query = usePolledRow("charges", id, load);
  return (
    <Detail
      query={query}
      id={id}
      list={{ path: "/charges", title: t.nav.charges }}
      thing={t.thing.charge}
      of="charge"
      state={(charge) => charge.paymentStatus}
    >
      {(charge) => ({
        main: (
          <>
            <Panel title={t.detail.timeline}>
              <Timeline moments={moments(charge, t)} />
            </Panel>
            <Panel title={t.detail.calls}>
              <Calls calls={charge.providerCalls} />
            </Panel>
            <Panel title={t.detail.failures}>
              <Failures failures={charge.failures} />
            </Panel>
          </>
        ),
        side: (
          <>
            <Panel title={t.detail.facts}>
              <Facts
                facts={[
                  [t.field.charged, <ChargeKind key="kind" status={charge.status} />],
                  [t.field.title, charge.title],
                  [t.field.can, <Can key="can" can={charge.can} />],
                  [t.field.price, <Money key="price" amount={charge.price} />],
                  [t.field.member, <MemberLink key="member" member={charge.member} />],
                  [
                    t.field.gateway,
                    <span key="gateway" className="mono">{`${charge.paymentGateway} · ${charge.container}`}</span>,
                  ],
                  [t.field.method, charge.method],
                  [t.field.sku, charge.sku && <span className="mono">{charge.sku}</span>],
                  [t.field.createdAt, <Time key="created" at={charge.createdAt} />],
                  [t.field.completedAt, charge.completedAt && <Time key="completed" at={charge.completedAt} />],
                  [t.field.consumedAt, charge.consumedAt && <Time key="consumed" at={charge.consumedAt} />],
                  [t.field.orderId, <CopyId key="order" id={charge.orderId} what={t.field.orderId} />],
                  [
                    t.field.gatewayTransactionId,
                    charge.gatewayTransactionId && (
                      <CopyId key="tx" id={charge.gatewayTransactionId} what={t.field.gatewayTransactionId} />
                    ),
                  ],
                  [t.field.flowId, <CopyId key="flow" id={charge.flowId} what={t.field.flowId} />],
                ]}
              />
            </Panel>
            <Panel title={t.charge.jobs}>
              <RelatedRows
                rows={charge.jobs}
                to="/charge-jobs"
                of="job"
                label={(job) => `${t.charge[job.jobType]} · ${t.charge.can(whole(job.additionalCan, locale))}`}
              />
            </Panel>
          </>
        ),
      })}
    </Detail>
  );
}
