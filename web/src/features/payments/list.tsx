import { Link } from "@tanstack/react-router";
import { type ListSearch, type ListSpec, statusesOf } from "@/features/list/spec";
import { type PaymentRowFragment, type PaymentStatus, PaymentsCountDocument, PaymentsDocument } from "@/gql/graphql";
import { useT } from "@/i18n";
import { Money } from "@/ui/Money";
import { StatusChip } from "@/ui/StatusChip";
import { Time } from "@/ui/Time";
import { TEXTS } from "./search";

const STATUSES = ["PENDING", "COMPLETED", "FAILED"] as const satisfies PaymentStatus[];

/** A refund takes its payment's place. */
function InRefunds({ search: { userId, meetingId, flowId } }: { search: ListSearch }) {
  const t = useT();
  // Refunds are not found by what else a payment is found by.
  if (!userId && !meetingId && !flowId) return null;
  return (
    <span className="block">
      {t.list.refunded}{" "}
      <Link to="/refunds" search={{ userId, meetingId, flowId } as never} className="link underline">
        {t.list.lookInRefunds}
      </Link>
    </span>
  );
}

export const payments: ListSpec<PaymentRowFragment> = {
  key: "payments",
  path: "/payments",
  title: (t) => t.nav.payments,
  of: "payment",
  statuses: STATUSES,
  texts: TEXTS.map((key) => ({ key, label: (t) => t.field[key] })),
  hasRange: true,
  elsewhere: InRefunds,
  columns: [
    { key: "id", label: (t) => t.field.id, cell: (row) => row.id },
    { key: "status", label: (t) => t.field.status, cell: (row) => <StatusChip status={row.status} of="payment" /> },
    { key: "amount", label: (t) => t.field.amount, cell: (row) => <Money amount={row.amount} />, align: "right" },
    { key: "orderName", label: (t) => t.field.orderName, cell: (row) => row.orderName, className: "max-w-60" },
    { key: "userId", label: (t) => t.field.userId, cell: (row) => <span className="mono">{row.userId}</span> },
    { key: "meetingId", label: (t) => t.field.meetingId, cell: (row) => <span className="mono">{row.meetingId}</span> },
    {
      key: "failureCode",
      label: (t) => t.field.failureCode,
      cell: (row) => <span className="mono">{row.failureCode}</span>,
      className: "max-w-52",
    },
    {
      key: "orderId",
      label: (t) => t.field.orderId,
      cell: (row) => <span className="mono">{row.orderId}</span>,
      isExtra: true,
      className: "max-w-72",
    },
    { key: "createdAt", label: (t) => t.field.createdAt, cell: (row) => <Time at={row.createdAt} /> },
    { key: "updatedAt", label: (t) => t.field.updatedAt, cell: (row) => <Time at={row.updatedAt} />, isExtra: true },
  ],
  page: PaymentsDocument,
  count: PaymentsCountDocument,
  filter: (search, createdAt) => {
    const status = statusesOf({ statuses: STATUSES }, search);
    const texts = Object.fromEntries(TEXTS.map((key) => [key, search[key]]));
    return { filter: { ...texts, createdAt, status: status.length > 0 ? status : undefined } };
  },
};
