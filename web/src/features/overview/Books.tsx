import { useQuery } from "@tanstack/react-query";
import { CircleCheck, CircleX } from "lucide-react";
import { BooksDocument } from "@/gql/graphql";
import { useT } from "@/i18n";
import { gql } from "@/lib/gql";
import { count } from "@/lib/money";
import { useSettings } from "@/lib/settings";
import { useStore } from "@/lib/store";
import { paused } from "@/ui/Live";
import { ErrorText } from "@/ui/Messages";
import { Time } from "@/ui/Time";

/** The server checks twice a minute at most. */
const REFRESH_MS = 60_000;

/** What must always hold of the stored rows, and whether it does. What does not hold is open at once. */
export function Books() {
  const t = useT();
  const { locale } = useSettings();
  const isPaused = useStore(paused);
  const query = useQuery({
    queryKey: ["invariants"],
    queryFn: async ({ signal }) => (await gql(BooksDocument, {}, signal)).invariants,
    refetchInterval: isPaused ? false : REFRESH_MS,
    refetchOnWindowFocus: false,
  });
  const checks = query.data;
  const broken = checks?.filter(({ holds }) => !holds) ?? [];
  const isSound = checks !== undefined && broken.length === 0;
  return (
    <details className="panel mt-3 group" open={broken.length > 0} data-books={checks && (isSound ? "hold" : "broken")}>
      <summary className="flex cursor-pointer flex-wrap items-center gap-2 px-3 py-1.5">
        <h2 className="text-xs text-ink-2">{t.overview.books}</h2>
        {checks ? (
          <span className={`inline-flex items-center gap-1.5 font-medium ${isSound ? "text-ok" : "text-bad"}`}>
            {isSound ? <CircleCheck size={13} aria-hidden="true" /> : <CircleX size={13} aria-hidden="true" />}
            {isSound
              ? t.overview.booksHold(count(checks.length, locale))
              : t.overview.booksBroken(count(broken.length, locale))}
          </span>
        ) : (
          <span className="text-ink-2">{query.error ? null : t.overview.booksChecking}</span>
        )}
        {query.error ? (
          <span role="alert" className="text-bad">
            <ErrorText error={query.error} />
          </span>
        ) : null}
        {checks?.[0] ? <Time at={checks[0].checkedAt} className="ml-auto text-xs text-ink-2" /> : null}
      </summary>
      <ul className="grid border-t border-line lg:grid-cols-2">
        {checks?.map(({ name, description, holds, violations, sampleIds }) => (
          <li key={name} className="flex items-start gap-2 border-b border-line px-3 py-1">
            {holds ? (
              <CircleCheck size={13} className="mt-0.5 shrink-0 text-ok" aria-hidden="true" />
            ) : (
              <CircleX size={13} className="mt-0.5 shrink-0 text-bad" aria-hidden="true" />
            )}
            <span className="min-w-0">
              {t.invariant[name] ?? description}
              {holds ? null : (
                <span className="block text-bad">
                  {t.overview.violations(count(violations, locale))}{" "}
                  <span className="mono">{sampleIds.join(", ")}</span>
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
