import { createFileRoute } from "@tanstack/react-router";
import { ListPage } from "@/features/list/ListPage";
import { payments } from "@/features/payments/list";
import { paymentSearch } from "@/features/payments/search";

export const Route = createFileRoute("/payments/")({ validateSearch: paymentSearch, component: Page });

function Page() {
  return <ListPage spec={payments} search={Route.useSearch()} />;
}
