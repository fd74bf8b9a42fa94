import { createFileRoute } from "@tanstack/react-router";
import { ListPage } from "@/features/list/ListPage";
import { listSearch } from "@/features/list/spec";
import { REFUND_TEXTS, refunds } from "@/features/refunds/list";

export const Route = createFileRoute("/refunds/")({ validateSearch: listSearch(REFUND_TEXTS), component: Page });

function Page() {
  return <ListPage spec={refunds} search={Route.useSearch()} />;
}
