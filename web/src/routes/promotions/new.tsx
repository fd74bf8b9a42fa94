import { createFileRoute } from "@tanstack/react-router";
import { NewPromotionPage } from "@/features/promotions/edit";

export const Route = createFileRoute("/promotions/new")({ component: NewPromotionPage });
