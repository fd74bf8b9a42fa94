import { createFileRoute } from "@tanstack/react-router";
import { ListPage } from "@/features/list/ListPage";
import { refunds } from "@/features/refunds/list";
import { refundSearch } from "@/features/refunds/search";

export const Route = createFileRoute("/refunds/")({ validateSearch: refundSearch, component: Page });

function Page() {
  return <ListPage spec={refunds} search={Route.useSearch()} />;
}
