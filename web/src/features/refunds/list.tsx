import { chosen, type ListSpec, statusesOf } from "@/features/list/spec";
import {
  type RefundRowFragment,
  type RefundSource,
  type RefundStatus,
  RefundsCountDocument,
  RefundsDocument,
} from "@/gql/graphql";
import { useT } from "@/i18n";
import { Money } from "@/ui/Money";
import { StatusChip } from "@/ui/StatusChip";
import { Time } from "@/ui/Time";
import { TEXTS } from "./search";

const STATUSES = ["REQUESTED", "COMPLETED", "FAILED"] as const satisfies RefundStatus[];
const SOURCES = ["API", "PARTICIPANT_CANCEL", "MEETING_DELETED", "OPERATOR"] as const satisfies RefundSource[];

function Source({ source }: { source: string }) {
  return useT().source[source] ?? source;
}

export const refunds: ListSpec<RefundRowFragment> = {
  key: "refunds",
  path: "/refunds",
  title: (t) => t.nav.refunds,
  of: "refund",
  statuses: STATUSES,
  texts: TEXTS.map((key) => ({ key, label: (t) => t.field[key] })),
  choices: [
    { key: "source", label: (t) => t.field.source, values: SOURCES, name: (t, source) => t.source[source] ?? source },
  ],
  hasRange: true,
  columns: [
    { key: "id", label: (t) => t.field.id, cell: (row) => row.id },
    { key: "status", label: (t) => t.field.status, cell: (row) => <StatusChip status={row.status} of="refund" /> },
    { key: "amount", label: (t) => t.field.amount, cell: (row) => <Money amount={row.amount} />, align: "right" },
    { key: "paymentId", label: (t) => t.field.paymentId, cell: (row) => <span className="mono">{row.paymentId}</span> },
    { key: "source", label: (t) => t.field.source, cell: (row) => <Source source={row.source} /> },
    { key: "reason", label: (t) => t.field.reason, cell: (row) => row.reason, className: "max-w-64" },
    {
      key: "failureCode",
      label: (t) => t.field.failureCode,
      cell: (row) => <span className="mono">{row.failureCode}</span>,
      className: "max-w-52",
    },
    {
      key: "attemptCount",
      label: (t) => t.field.attemptCount,
      cell: (row) => row.attemptCount,
      align: "right",
      isExtra: true,
    },
    {
      key: "userId",
      label: (t) => t.field.userId,
      cell: (row) => <span className="mono">{row.userId}</span>,
      isExtra: true,
    },
    {
      key: "meetingId",
      label: (t) => t.field.meetingId,
      cell: (row) => <span className="mono">{row.meetingId}</span>,
      isExtra: true,
    },
    { key: "createdAt", label: (t) => t.field.createdAt, cell: (row) => <Time at={row.createdAt} /> },
    { key: "updatedAt", label: (t) => t.field.updatedAt, cell: (row) => <Time at={row.updatedAt} />, isExtra: true },
  ],
  page: RefundsDocument,
  count: RefundsCountDocument,
  filter: (search, createdAt) => {
    const status = statusesOf({ statuses: STATUSES }, search);
    const { paymentId, userId, meetingId, flowId, failureCode } = search;
    const source = chosen(SOURCES, search, "source");
    return {
      filter: {
        paymentId,
        userId,
        meetingId,
        flowId,
        createdAt,
        failureCode: failureCode ? [failureCode] : undefined,
        source: source ? [source] : undefined,
        status: status.length > 0 ? status : undefined,
      },
    };
  },
};
