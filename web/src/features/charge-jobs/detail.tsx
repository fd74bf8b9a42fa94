import { Link } from "@tanstack/react-router";
import { Can, MemberLink } from "@/features/charges/list";
import { Detail, Facts, Failures, Panel, RelatedRows } from "@/features/detail/parts";
import { operate, outcome, useLiveRow } from "@/features/detail/useLiveRow";
import {
  ChargeJobChangedDocument,
  type ChargeJobDetailFragment,
  ChargeJobDocument,
  RetryChargeJobDocument,
} from "@/gql/graphql";
import { useT } from "@/i18n";
import type { Dictionary } from "@/i18n/en";
import { gql } from "@/lib/gql";
import { type Act, Actions } from "@/ui/Actions";
import { CopyId } from "@/ui/CopyId";
import { Time } from "@/ui/Time";
import { type Moment, Timeline } from "@/ui/Timeline";
import { Waiting } from "@/ui/Waiting";
import { JobType } from "./list";

const load = async (id: string, signal: AbortSignal) => (await gql(ChargeJobDocument, { id }, signal)).chargeJob;

function moments(job: ChargeJobDetailFragment, t: Dictionary): Moment[] {
  return [
    {
      at: job.createdAt,
      title: `${t.thing.job} ${t.status.PENDING}`,
      detail: t.charge[job.jobType],
      status: "PENDING",
      of: "job",
    },
    ...job.failures.map(
      (failure): Moment => ({
        at: failure.occurredAt,
        title: t.kind[failure.kind] ?? failure.kind,
        detail: failure.message,
        status: failure.severity,
        of: "failure",
      }),
    ),
    ...(job.processedAt
      ? [{ at: job.processedAt, title: `${t.thing.job} ${t.status.DONE}`, status: "DONE", of: "job" } satisfies Moment]
      : []),
  ];
}

function acts(job: ChargeJobDetailFragment): Act[] {
  return job.availableActions.map((action) => ({
    action,
    run: async (reason) => {
      const result = await operate(RetryChargeJobDocument, job.id, reason);
      return outcome(result, result.chargeJob);
    },
  }));
}

export function ChargeJobPage({ id }: { id: string }) {
  const t = useT();
  const query = useLiveRow("chargeJobs", id, load, ChargeJobChangedDocument);
  return (
    <Detail query={query} id={id} list={{ path: "/charge-jobs", title: t.nav.chargeJobs }} thing={t.thing.job} of="job">
      {(job) => ({
        main: (
          <>
            <Panel title={t.detail.timeline}>
              <Timeline moments={moments(job, t)} />
            </Panel>
            <Panel title={t.nav.charges}>
              <RelatedRows
                rows={[job.sourceCharge, ...(job.resultCharge ? [job.resultCharge] : [])].map((charge) => ({
                  ...charge,
                  status: charge.paymentStatus,
                }))}
                to="/charges"
                of="charge"
                label={(charge) => `${t.thing.charge} ${charge.id} · ${charge.title}`}
              />
            </Panel>
            <Panel title={t.detail.failures}>
              <Failures failures={job.failures} />
            </Panel>
          </>
        ),
        side: (
          <>
            <Panel title={t.detail.now}>
              <Waiting wait={job.waitingFor} />
            </Panel>
            <Panel title={t.detail.actions}>
              <Actions acts={acts(job)} what={`${t.thing.job} ${id}`} status={job.status} />
            </Panel>
            <Panel title={t.detail.facts}>
              <Facts
                facts={[
                  [t.field.jobType, <JobType key="type" type={job.jobType} />],
                  [
                    t.field.chargeEventId,
                    job.chargeEvent && (
                      <Link to="/promotions/$id" params={{ id: job.chargeEvent.id }} className="link">
                        {job.chargeEvent.title}
                      </Link>
                    ),
                  ],
                  [t.field.additionalCan, <Can key="can" can={job.additionalCan} />],
                  [t.field.member, <MemberLink key="member" member={job.member} />],
                  [
                    t.field.container,
                    <span key="container" className="mono">{`${job.container} · ${job.paymentGateway}`}</span>,
                  ],
                  [t.field.methodSnapshot, job.methodSnapshot],
                  [t.field.retryCount, job.retryCount],
                  [
                    t.field.nextRetryAt,
                    job.status === "PENDING" && job.nextRetryAt ? <Time key="next" at={job.nextRetryAt} /> : null,
                  ],
                  [t.field.lastError, job.lastError],
                  [t.field.createdAt, <Time key="created" at={job.createdAt} />],
                  [t.field.processedAt, job.processedAt && <Time key="processed" at={job.processedAt} />],
                  [t.field.key, <CopyId key="key" id={job.idempotencyKey} what={t.field.key} />],
                  [t.field.flowId, <CopyId key="flow" id={job.flowId} what={t.field.flowId} />],
                ]}
              />
            </Panel>
          </>
        ),
      })}
    </Detail>
  );
}
