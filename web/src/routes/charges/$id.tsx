import { createFileRoute } from "@tanstack/react-router";
import { ChargePage } from "@/features/charges/detail";

export const Route = createFileRoute("/charges/$id")({ component: Page });

function Page() {
  return <ChargePage id={Route.useParams().id} />;
}
