import { Link } from "@tanstack/react-router";
import { Can } from "@/features/charges/list";
import { chosen, type ListSpec, statusesOf } from "@/features/list/spec";
import {
  type ChargeJobRowFragment,
  type ChargeJobStatus,
  ChargeJobsCountDocument,
  ChargeJobsDocument,
  type ChargeJobType,
} from "@/gql/graphql";
import { useT } from "@/i18n";
import { StatusChip } from "@/ui/StatusChip";
import { Time } from "@/ui/Time";
import { RunJobs } from "./RunJobs";
import { TEXTS } from "./search";

const STATUSES = ["PENDING", "PROCESSING", "FAILED", "DONE"] as const satisfies ChargeJobStatus[];
const TYPES = ["FIRST_CHARGE", "ACTIVE_CHARGE_EVENT"] as const satisfies ChargeJobType[];

export function JobType({ type }: { type: "FIRST_CHARGE" | "ACTIVE_CHARGE_EVENT" }) {
  return useT().charge[type];
}

export const chargeJobs: ListSpec<ChargeJobRowFragment> = {
  key: "chargeJobs",
  path: "/charge-jobs",
  title: (t) => t.nav.chargeJobs,
  of: "job",
  statuses: STATUSES,
  texts: TEXTS.map((key) => ({ key, label: (t) => t.field[key] })),
  choices: [
    {
      key: "jobType",
      label: (t) => t.field.jobType,
      values: TYPES,
      name: (t, type) => t.charge[type as ChargeJobType],
    },
  ],
  hasRange: true,
  header: RunJobs,
  columns: [
    { key: "id", label: (t) => t.field.id, cell: (row) => row.id },
    { key: "status", label: (t) => t.field.status, cell: (row) => <StatusChip status={row.status} of="job" /> },
    { key: "jobType", label: (t) => t.field.jobType, cell: (row) => <JobType type={row.jobType} /> },
    {
      key: "additionalCan",
      label: (t) => t.field.additionalCan,
      cell: (row) => <Can can={row.additionalCan} />,
      align: "right",
    },
    {
      key: "memberId",
      label: (t) => t.field.memberId,
      cell: (row) => (
        <Link to="/members/$id" params={{ id: row.memberId }} className="link mono relative z-2">
          {row.memberId}
        </Link>
      ),
    },
    {
      key: "sourceChargeId",
      label: (t) => t.field.sourceChargeId,
      cell: (row) => <span className="mono">{row.sourceChargeId}</span>,
    },
    { key: "retryCount", label: (t) => t.field.retryCount, cell: (row) => row.retryCount, align: "right" },
    {
      key: "nextRetryAt",
      label: (t) => t.field.nextRetryAt,
      cell: (row) => (row.status === "PENDING" ? <Time at={row.nextRetryAt} /> : null),
    },
    { key: "lastError", label: (t) => t.field.lastError, cell: (row) => row.lastError, className: "wrap" },
    {
      key: "container",
      label: (t) => t.field.container,
      cell: (row) => <span className="mono">{row.container}</span>,
      isExtra: true,
    },
    { key: "createdAt", label: (t) => t.field.createdAt, cell: (row) => <Time at={row.createdAt} /> },
    { key: "updatedAt", label: (t) => t.field.updatedAt, cell: (row) => <Time at={row.updatedAt} />, isExtra: true },
  ],
  page: ChargeJobsDocument,
  count: ChargeJobsCountDocument,
  filter: (search, createdAt) => {
    const status = statusesOf({ statuses: STATUSES }, search);
    const { memberId, sourceChargeId, chargeEventId } = search;
    const jobType = chosen(TYPES, search, "jobType");
    return {
      filter: {
        memberId,
        sourceChargeId,
        chargeEventId,
        createdAt,
        jobType: jobType ? [jobType] : undefined,
        // Without any, the API tells of those that wait or need a person; "All" here is all.
        status: status.length > 0 ? status : [...STATUSES],
      },
    };
  },
};
