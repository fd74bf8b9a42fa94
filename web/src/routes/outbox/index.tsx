import { createFileRoute } from "@tanstack/react-router";
import { ListPage } from "@/features/list/ListPage";
import { listSearch } from "@/features/list/spec";
import { events, OUTBOX_TEXTS } from "@/features/outbox/list";

export const Route = createFileRoute("/outbox/")({ validateSearch: listSearch(OUTBOX_TEXTS), component: Page });

function Page() {
  return <ListPage spec={events} search={Route.useSearch()} />;
}
