import { createFileRoute } from "@tanstack/react-router";
import { PromotionPage } from "@/features/promotions/edit";

export const Route = createFileRoute("/promotions/$id")({ component: Page });

function Page() {
  return <PromotionPage id={Route.useParams().id} />;
}
