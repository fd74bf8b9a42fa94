import { createFileRoute } from "@tanstack/react-router";
import { deadLetters } from "@/features/dead-letters/list";
import { ListPage } from "@/features/list/ListPage";
import { listSearch } from "@/features/list/spec";

export const Route = createFileRoute("/dead-letters/")({ validateSearch: listSearch([]), component: Page });

function Page() {
  return <ListPage spec={deadLetters} search={Route.useSearch()} />;
}
