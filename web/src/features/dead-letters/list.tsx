import { type ListSpec, statusesOf } from "@/features/list/spec";
import {
  type DeadLetterRowFragment,
  DeadLettersCountDocument,
  DeadLettersDocument,
  type InboundDeadLetterStatus,
} from "@/gql/graphql";
import { StatusChip } from "@/ui/StatusChip";
import { Time } from "@/ui/Time";

const STATUSES = ["OPEN", "REPLAYED", "DISCARDED"] as const satisfies InboundDeadLetterStatus[];

export const deadLetters: ListSpec<DeadLetterRowFragment> = {
  key: "deadLetters",
  path: "/dead-letters",
  title: (t) => t.nav.deadLetters,
  of: "deadLetter",
  statuses: STATUSES,
  texts: [],
  hasRange: false,
  columns: [
    { key: "id", label: (t) => t.field.id, cell: (row) => row.id },
    { key: "status", label: (t) => t.field.status, cell: (row) => <StatusChip status={row.status} of="deadLetter" /> },
    { key: "queue", label: (t) => t.field.queue, cell: (row) => <span className="mono">{row.queue}</span> },
    {
      key: "errorClass",
      label: (t) => t.field.errorClass,
      cell: (row) => <span className="mono">{row.errorClass}</span>,
    },
    { key: "errorCode", label: (t) => t.field.errorCode, cell: (row) => <span className="mono">{row.errorCode}</span> },
    { key: "error", label: (t) => t.field.error, cell: (row) => row.error, className: "wrap" },
    {
      key: "eventId",
      label: (t) => t.field.eventId,
      cell: (row) => <span className="mono">{row.eventId}</span>,
      isExtra: true,
    },
    { key: "receivedAt", label: (t) => t.field.receivedAt, cell: (row) => <Time at={row.receivedAt} /> },
    { key: "updatedAt", label: (t) => t.field.updatedAt, cell: (row) => <Time at={row.updatedAt} />, isExtra: true },
  ],
  page: DeadLettersDocument,
  count: DeadLettersCountDocument,
  filter: (search) => {
    const status = statusesOf({ statuses: STATUSES }, search);
    return { status: status.length > 0 ? status : undefined };
  },
};
