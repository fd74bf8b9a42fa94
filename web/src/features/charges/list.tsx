import { Link } from "@tanstack/react-router";
import { chosen, type ListSpec, statusesOf } from "@/features/list/spec";
import {
  type ChargePaymentStatus,
  type ChargeRowFragment,
  type ChargeStatus,
  ChargesCountDocument,
  ChargesDocument,
  type PaymentGateway,
} from "@/gql/graphql";
import { useT } from "@/i18n";
import { whole } from "@/lib/money";
import { useSettings } from "@/lib/settings";
import { Money } from "@/ui/Money";
import { StatusChip } from "@/ui/StatusChip";
import { Time } from "@/ui/Time";
import { TEXTS } from "./search";

const STATUSES = ["REQUEST", "COMPLETE"] as const satisfies ChargePaymentStatus[];
const KINDS = ["CHARGE", "EVENT"] as const satisfies ChargeStatus[];
const GATEWAYS = ["PG", "PAYVERSE", "HECTO", "APPLE_IAP", "GOOGLE_IAP"] as const satisfies PaymentGateway[];

export function Can({ can }: { can: number }) {
  const { locale } = useSettings();
  return <span className="tabular-nums">{whole(can, locale)}</span>;
}

export function ChargeKind({ status }: { status: "CHARGE" | "EVENT" }) {
  return useT().charge[status];
}

export function MemberLink({ member }: { member: { id: string; nickname: string | null } }) {
  return (
    <Link to="/members/$id" params={{ id: member.id }} className="link relative z-2">
      {member.nickname ?? member.id}
    </Link>
  );
}

export const charges: ListSpec<ChargeRowFragment> = {
  key: "charges",
  path: "/charges",
  title: (t) => t.nav.charges,
  of: "charge",
  statuses: STATUSES,
  texts: TEXTS.map((key) => ({ key, label: (t) => t.field[key] })),
  choices: [
    {
      key: "kind",
      label: (t) => t.field.charged,
      values: KINDS,
      name: (t, kind) => t.charge[kind as ChargeStatus],
    },
    { key: "gateway", label: (t) => t.field.gateway, values: GATEWAYS, name: (_, gateway) => gateway },
  ],
  hasRange: true,
  columns: [
    { key: "id", label: (t) => t.field.id, cell: (row) => row.id },
    {
      key: "status",
      label: (t) => t.field.status,
      cell: (row) => <StatusChip status={row.paymentStatus} of="charge" />,
    },
    { key: "charged", label: (t) => t.field.charged, cell: (row) => <ChargeKind status={row.status} /> },
    { key: "can", label: (t) => t.field.can, cell: (row) => <Can can={row.can} />, align: "right" },
    { key: "price", label: (t) => t.field.price, cell: (row) => <Money amount={row.price} />, align: "right" },
    {
      key: "gateway",
      label: (t) => t.field.gateway,
      cell: (row) => <span className="mono">{row.paymentGateway}</span>,
    },
    {
      key: "member",
      label: (t) => t.field.member,
      cell: (row) => <MemberLink member={row.member} />,
      className: "max-w-48",
    },
    { key: "title", label: (t) => t.field.title, cell: (row) => row.title, className: "max-w-60" },
    {
      key: "container",
      label: (t) => t.field.container,
      cell: (row) => <span className="mono">{row.container}</span>,
      isExtra: true,
    },
    {
      key: "orderId",
      label: (t) => t.field.orderId,
      cell: (row) => <span className="mono">{row.orderId}</span>,
      isExtra: true,
    },
    { key: "createdAt", label: (t) => t.field.createdAt, cell: (row) => <Time at={row.createdAt} /> },
    { key: "updatedAt", label: (t) => t.field.updatedAt, cell: (row) => <Time at={row.updatedAt} />, isExtra: true },
  ],
  page: ChargesDocument,
  count: ChargesCountDocument,
  filter: (search, createdAt) => {
    const paymentStatus = statusesOf({ statuses: STATUSES }, search);
    const { memberId, orderId, gatewayTransactionId } = search;
    const [kind, gateway] = [chosen(KINDS, search, "kind"), chosen(GATEWAYS, search, "gateway")];
    return {
      filter: {
        memberId,
        orderId,
        gatewayTransactionId,
        createdAt,
        status: kind ? [kind] : undefined,
        paymentGateway: gateway ? [gateway] : undefined,
        paymentStatus: paymentStatus.length > 0 ? paymentStatus : undefined,
      },
    };
  },
};
