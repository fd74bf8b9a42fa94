import { createFileRoute } from "@tanstack/react-router";
import { ListPage } from "@/features/list/ListPage";
import { promotionSearch, promotions } from "@/features/promotions/list";

export const Route = createFileRoute("/promotions/")({ validateSearch: promotionSearch, component: Page });

function Page() {
  return <ListPage spec={promotions} search={Route.useSearch()} />;
}
