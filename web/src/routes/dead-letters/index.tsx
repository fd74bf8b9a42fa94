import { createFileRoute } from "@tanstack/react-router";
import { deadLetters } from "@/features/dead-letters/list";
import { deadLetterSearch } from "@/features/dead-letters/search";
import { ListPage } from "@/features/list/ListPage";

export const Route = createFileRoute("/dead-letters/")({ validateSearch: deadLetterSearch, component: Page });

function Page() {
  return <ListPage spec={deadLetters} search={Route.useSearch()} />;
}
