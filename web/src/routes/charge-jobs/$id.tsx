import { createFileRoute } from "@tanstack/react-router";
import { ChargeJobPage } from "@/features/charge-jobs/detail";

export const Route = createFileRoute("/charge-jobs/$id")({ component: Page });

function Page() {
  return <ChargeJobPage id={Route.useParams().id} />;
}
