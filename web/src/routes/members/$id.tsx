import { createFileRoute } from "@tanstack/react-router";
import * as v from "valibot";
import { MemberPage } from "@/features/members/detail";

const cursor = v.fallback(v.optional(v.string()), undefined);

export const Route = createFileRoute("/members/$id")({
  validateSearch: v.object({ after: cursor, before: cursor }),
  component: Page,
});

function Page() {
  return <MemberPage id={Route.useParams().id} search={Route.useSearch()} />;
}
