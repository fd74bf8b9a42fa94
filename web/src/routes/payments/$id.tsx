import { createFileRoute } from "@tanstack/react-router";
import { PaymentPage } from "@/features/payments/detail";

export const Route = createFileRoute("/payments/$id")({ component: Page });

function Page() {
  return <PaymentPage id={Route.useParams().id} />;
}
