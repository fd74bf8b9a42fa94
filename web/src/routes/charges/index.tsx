import { createFileRoute } from "@tanstack/react-router";
import { chargeSearch, charges } from "@/features/charges/list";
import { ListPage } from "@/features/list/ListPage";

export const Route = createFileRoute("/charges/")({ validateSearch: chargeSearch, component: Page });

function Page() {
  return <ListPage spec={charges} search={Route.useSearch()} />;
}
