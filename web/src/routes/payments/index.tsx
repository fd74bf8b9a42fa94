import { createFileRoute } from "@tanstack/react-router";
import { ListPage } from "@/features/list/ListPage";
import { listSearch } from "@/features/list/spec";
import { PAYMENT_TEXTS, payments } from "@/features/payments/list";

export const Route = createFileRoute("/payments/")({ validateSearch: listSearch(PAYMENT_TEXTS), component: Page });

function Page() {
  return <ListPage spec={payments} search={Route.useSearch()} />;
}
