import { createFileRoute } from "@tanstack/react-router";
import { ListPage } from "@/features/list/ListPage";
import { promotions } from "@/features/promotions/list";
import { promotionSearch } from "@/features/promotions/search";

export const Route = createFileRoute("/promotions/")({ validateSearch: promotionSearch, component: Page });

function Page() {
  return <ListPage spec={promotions} search={Route.useSearch()} />;
}
