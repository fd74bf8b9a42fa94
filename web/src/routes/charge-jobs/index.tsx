import { createFileRoute } from "@tanstack/react-router";
import { chargeJobs } from "@/features/charge-jobs/list";
import { jobSearch } from "@/features/charge-jobs/search";
import { ListPage } from "@/features/list/ListPage";

export const Route = createFileRoute("/charge-jobs/")({ validateSearch: jobSearch, component: Page });

function Page() {
  return <ListPage spec={chargeJobs} search={Route.useSearch()} />;
}
