import { createFileRoute } from "@tanstack/react-router";
import { ListPage } from "@/features/list/ListPage";
import { events } from "@/features/outbox/list";
import { outboxSearch } from "@/features/outbox/search";

export const Route = createFileRoute("/outbox/")({ validateSearch: outboxSearch, component: Page });

function Page() {
  return <ListPage spec={events} search={Route.useSearch()} />;
}
