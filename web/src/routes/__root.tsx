import { createRootRoute, Link, redirect, retainSearchParams } from "@tanstack/react-router";
import * as v from "valibot";
import { App } from "@/App";
import { useT } from "@/i18n";
import { DEFAULT_ZONE, settings, ZONES } from "@/lib/settings";
import { EmptyState } from "@/ui/Messages";

const search = v.object({ tz: v.fallback(v.optional(v.picklist(ZONES)), undefined) });

export const Route = createRootRoute({
  validateSearch: search,
  search: { middlewares: [retainSearchParams(["tz"])] },
  // One's own zone goes into the address, so that a link shows the same times to everybody.
  beforeLoad: ({ search, location }) => {
    const { zone } = settings.get();
    if (search.tz === undefined && zone !== DEFAULT_ZONE) {
      throw redirect({
        to: location.pathname,
        search: { ...location.search, tz: zone } as never,
        hash: location.hash,
        replace: true,
      });
    }
  },
  component: App,
  notFoundComponent: NotFound,
});

function NotFound() {
  const t = useT();
  return (
    <EmptyState
      action={
        <Link to="/" className="button">
          {t.error.home}
        </Link>
      }
    >
      {t.error.notFound}
    </EmptyState>
  );
}
