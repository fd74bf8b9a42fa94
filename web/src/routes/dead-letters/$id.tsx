import { createFileRoute } from "@tanstack/react-router";
import { DeadLetterPage } from "@/features/dead-letters/detail";

export const Route = createFileRoute("/dead-letters/$id")({ component: Page });

function Page() {
  return <DeadLetterPage id={Route.useParams().id} />;
}
