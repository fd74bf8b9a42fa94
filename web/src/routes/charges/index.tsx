import { createFileRoute } from "@tanstack/react-router";
import { charges } from "@/features/charges/list";
import { chargeSearch } from "@/features/charges/search";
import { ListPage } from "@/features/list/ListPage";

export const Route = createFileRoute("/charges/")({ validateSearch: chargeSearch, component: Page });

function Page() {
  return <ListPage spec={charges} search={Route.useSearch()} />;
}
