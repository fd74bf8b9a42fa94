import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import type { ListSpec } from "@/features/list/spec";
import { type PromotionRowFragment, PromotionsCountDocument, PromotionsDocument } from "@/gql/graphql";
import { useT } from "@/i18n";
import { serverNow } from "@/lib/clock";
import { session } from "@/lib/session";
import { useStore } from "@/lib/store";
import { StatusChip } from "@/ui/StatusChip";
import { Time } from "@/ui/Time";

/** Whether it applies to a charge that is completed now. */
export function stateOf(
  promotion: Pick<PromotionRowFragment, "isActive" | "startAt" | "endAt">,
  now = serverNow(),
): string {
  if (Date.parse(promotion.endAt) <= now) return "ENDED";
  if (!promotion.isActive) return "OFF";
  return Date.parse(promotion.startAt) > now ? "PLANNED" : "ACTIVE";
}

function Times({ count }: { count: number }) {
  const t = useT();
  return count === 0 ? t.charge.unlimited : count;
}

function Create() {
  const t = useT();
  const isAdmin = useStore(session)?.viewer?.roles.includes("ADMIN") ?? false;
  const inside = (
    <>
      <Plus size={13} aria-hidden="true" />
      {t.charge.create}
    </>
  );
  if (!isAdmin) {
    return (
      <button type="button" className="button" aria-disabled="true" title={t.charge.onlyAdmin}>
        {inside}
      </button>
    );
  }
  return (
    <Link to="/promotions/new" className="button" data-kind="primary">
      {inside}
    </Link>
  );
}

export const promotions: ListSpec<PromotionRowFragment> = {
  key: "promotions",
  path: "/promotions",
  title: (t) => t.nav.promotions,
  of: "promotion",
  statuses: [],
  texts: [],
  hasRange: false,
  header: Create,
  columns: [
    { key: "id", label: (t) => t.field.id, cell: (row) => row.id },
    { key: "status", label: (t) => t.field.status, cell: (row) => <StatusChip status={stateOf(row)} of="promotion" /> },
    { key: "title", label: (t) => t.field.title, cell: (row) => row.title, className: "max-w-96" },
    { key: "addPercent", label: (t) => t.field.addPercent, cell: (row) => row.addPercent, align: "right" },
    {
      key: "availableCount",
      label: (t) => t.field.availableCount,
      cell: (row) => <Times count={row.availableCount} />,
      align: "right",
    },
    { key: "startAt", label: (t) => t.field.startAt, cell: (row) => <Time at={row.startAt} /> },
    { key: "endAt", label: (t) => t.field.endAt, cell: (row) => <Time at={row.endAt} /> },
    { key: "updatedAt", label: (t) => t.field.updatedAt, cell: (row) => <Time at={row.updatedAt} />, isExtra: true },
    { key: "createdAt", label: (t) => t.field.createdAt, cell: (row) => <Time at={row.createdAt} />, isExtra: true },
  ],
  page: PromotionsDocument,
  count: PromotionsCountDocument,
  filter: () => ({}),
};
