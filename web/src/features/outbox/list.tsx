import { type ListSpec, statusesOf } from "@/features/list/spec";
import {
  OutboxEventsCountDocument,
  OutboxEventsDocument,
  type OutboxRowFragment,
  type OutboxStatus,
} from "@/gql/graphql";
import { useT } from "@/i18n";
import { CopyId } from "@/ui/CopyId";
import { StatusChip } from "@/ui/StatusChip";
import { Time } from "@/ui/Time";
import { TEXTS } from "./search";

const STATUSES = ["PENDING", "PROCESSING", "FAILED", "DEAD_LETTERED", "PUBLISHED"] as const satisfies OutboxStatus[];

type Tried = Pick<OutboxRowFragment, "status" | "lastErrorCode">;

/** Whether it found nobody and that is no error, as for a refund. */
export function isUnheard({ status, lastErrorCode }: Tried): boolean {
  return status === "PUBLISHED" && lastErrorCode === "UNROUTABLE";
}

/** Why it failed last. */
export function LastError({ event }: { event: Tried }) {
  const t = useT();
  if (isUnheard(event)) return <span className="text-ink-2">{t.outbox.nobodyListened}</span>;
  return <span className="mono">{event.lastErrorCode}</span>;
}

export const events: ListSpec<OutboxRowFragment> = {
  key: "events",
  path: "/outbox",
  title: (t) => t.nav.outbox,
  of: "event",
  statuses: STATUSES,
  texts: TEXTS.map((key) => ({ key, label: (t) => t.field[key] })),
  hasRange: true,
  columns: [
    { key: "id", label: (t) => t.field.id, cell: (row) => row.id },
    { key: "status", label: (t) => t.field.status, cell: (row) => <StatusChip status={row.status} of="event" /> },
    { key: "eventType", label: (t) => t.field.eventType, cell: (row) => <span className="mono">{row.eventType}</span> },
    {
      key: "aggregate",
      label: (t) => t.field.aggregate,
      cell: (row) => <span className="mono">{`${row.aggregateType} ${row.aggregateId}`}</span>,
      className: "max-w-56",
    },
    { key: "retryCount", label: (t) => t.field.retryCount, cell: (row) => row.retryCount, align: "right" },
    {
      key: "lastErrorCode",
      label: (t) => t.field.lastErrorCode,
      cell: (row) => <LastError event={row} />,
    },
    {
      key: "nextRetryAt",
      label: (t) => t.field.nextRetryAt,
      cell: (row) => (row.status === "FAILED" ? <Time at={row.nextRetryAt} /> : null),
    },
    {
      key: "eventId",
      label: (t) => t.field.eventId,
      cell: (row) => <CopyId id={row.eventId} what="eventId" />,
      isExtra: true,
    },
    {
      key: "routingKey",
      label: (t) => t.field.routingKey,
      cell: (row) => <span className="mono">{row.routingKey}</span>,
      isExtra: true,
    },
    {
      key: "attemptCount",
      label: (t) => t.field.attemptCount,
      cell: (row) => row.attemptCount,
      align: "right",
      isExtra: true,
    },
    { key: "createdAt", label: (t) => t.field.createdAt, cell: (row) => <Time at={row.createdAt} /> },
    { key: "updatedAt", label: (t) => t.field.updatedAt, cell: (row) => <Time at={row.updatedAt} />, isExtra: true },
  ],
  page: OutboxEventsDocument,
  count: OutboxEventsCountDocument,
  filter: (search, createdAt) => {
    const status = statusesOf({ statuses: STATUSES }, search);
    const { eventId, aggregateId, aggregateType, eventType, errorCode, correlationId, flowId } = search;
    return {
      filter: {
        eventId,
        aggregateId,
        aggregateType,
        correlationId,
        flowId,
        createdAt,
        eventType: eventType ? [eventType] : undefined,
        errorCode: errorCode ? [errorCode] : undefined,
        status: status.length > 0 ? status : undefined,
      },
    };
  },
};
