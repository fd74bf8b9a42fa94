import { createFileRoute } from "@tanstack/react-router";
import { FindMemberPage } from "@/features/members/find";

export const Route = createFileRoute("/members/")({ component: FindMemberPage });
