import { createFileRoute } from "@tanstack/react-router";
import { OutboxEventPage } from "@/features/outbox/detail";

export const Route = createFileRoute("/outbox/$id")({ component: Page });

function Page() {
  return <OutboxEventPage id={Route.useParams().id} />;
}
