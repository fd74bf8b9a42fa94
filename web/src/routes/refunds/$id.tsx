import { createFileRoute } from "@tanstack/react-router";
import { RefundPage } from "@/features/refunds/detail";

export const Route = createFileRoute("/refunds/$id")({ component: Page });

function Page() {
  return <RefundPage id={Route.useParams().id} />;
}
