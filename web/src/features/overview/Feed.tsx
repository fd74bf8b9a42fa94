import { Link } from "@tanstack/react-router";
import { memo, type ReactNode, type UIEvent, useCallback, useEffect, useRef, useState } from "react";
import { type FailureRowFragment, RecentFailuresDocument } from "@/gql/graphql";
import { useT } from "@/i18n";
import { FailureFeed } from "@/lib/feed";
import { ApiError, gql } from "@/lib/gql";
import { useStore } from "@/lib/store";
import { Fresh, paused } from "@/ui/Live";
import { EmptyState, ErrorState, StaleNotice } from "@/ui/Messages";
import { StatusChip } from "@/ui/StatusChip";
import { Time } from "@/ui/Time";

const ROW = 30;
/** Thirteen rows, or what a tall window has room for. */
const HEIGHT = `max(${13 * ROW}px, calc(100dvh - 545px))`;
/** Rows beyond what is seen, above and below. */
const MARGIN = 6;

const PAGES: Record<string, string> = {
  PAYMENT: "/payments",
  REFUND: "/refunds",
  OUTBOX_EVENT: "/outbox",
  INBOUND_DEAD_LETTER: "/dead-letters",
  CHARGE: "/charges",
  CHARGE_JOB: "/charge-jobs",
  MEMBER: "/members",
  CHARGE_EVENT: "/promotions",
};

/** Where a failure leads. */
function pageOf(failure: FailureRowFragment): string | undefined {
  const page = PAGES[failure.subjectType];
  return page ? `${page}/${failure.subjectId}` : undefined;
}

/** The feed, once its newest rows are known. */
function useFeed() {
  const [feed, setFeed] = useState<FailureFeed>();
  const [error, setError] = useState<ApiError>();
  const [tries, setTries] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `tries` is the wish to try again
  useEffect(() => {
    const abort = new AbortController();
    let made: FailureFeed | undefined;
    gql(RecentFailuresDocument, {}, abort.signal).then(
      (data) => {
        setError(undefined);
        made = new FailureFeed(data.failures.nodes);
        made.start();
        setFeed(made);
      },
      (failed) => {
        if (!abort.signal.aborted)
          setError(failed instanceof ApiError ? failed : new ApiError("CLIENT", String(failed)));
      },
    );
    return () => {
      abort.abort();
      made?.stop();
    };
  }, [tries]);
  return { feed, error, retry: () => setTries((count) => count + 1) };
}

/** The failures of every process, as they happen. */
export function LiveFeed() {
  const { feed, error, retry } = useFeed();
  return (
    <section className="panel mt-3">
      {feed && !error ? <Rows feed={feed} /> : <Head />}
      {error ? <ErrorState error={error} retry={retry} /> : null}
      {feed || error ? null : (
        <div className="space-y-4 p-4">
          {[1, 2, 3].map((key) => (
            <div key={key} className="skeleton w-2/3" />
          ))}
        </div>
      )}
    </section>
  );
}

function Head({ children }: { children?: ReactNode }) {
  const t = useT();
  return (
    <div className="flex items-center gap-3 border-b border-line px-3 py-[7px]">
      <h2 className="text-[12px] leading-[18px] text-ink-2">{t.overview.feed}</h2>
      <div className="ml-auto leading-[18px]">{children}</div>
    </div>
  );
}

function Rows({ feed }: { feed: FailureFeed }) {
  const t = useT();
  const { rows, held, waiting, error } = useStore(feed.state);
  const isPaused = useStore(paused);
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [isWithin, setWithin] = useState(false);
  // Nothing moves under a reader who points at the list, is in it by keyboard, or has scrolled down in it.
  const isHeld = isPaused || isWithin || top > 0;
  useEffect(() => feed.hold(isHeld), [feed, isHeld]);

  const show = useCallback(() => {
    list.current?.scrollTo({ top: 0 });
    setTop(0);
    feed.show();
  }, [feed]);
  const scrolled = (event: UIEvent<HTMLDivElement>) => setTop(event.currentTarget.scrollTop);
  const first = Math.max(0, Math.floor(top / ROW) - MARGIN);
  const seen = rows.slice(first, first + Math.ceil(window.innerHeight / ROW) + MARGIN);
  return (
    <>
      <Head>
        <Fresh count={waiting} show={show} />
      </Head>
      {error ? <StaleNotice error={error} retry={() => feed.restart()} /> : null}
      {rows.length === 0 && held.length === 0 ? (
        <EmptyState>{t.overview.noFailures}</EmptyState>
      ) : (
        <section
          ref={list}
          aria-label={t.overview.feed}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
          className="overflow-y-auto"
          style={{ height: HEIGHT }}
          data-feed
          onScroll={scrolled}
          onPointerEnter={() => setWithin(true)}
          onPointerLeave={() => setWithin(false)}
          onFocus={() => setWithin(true)}
          onBlur={(event) => {
            if (!event.currentTarget.contains(event.relatedTarget)) setWithin(false);
          }}
        >
          <ul className="relative" style={{ height: rows.length * ROW }}>
            {seen.map((failure, index) => (
              <FeedRow key={failure.id} failure={failure} at={(first + index) * ROW} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

const FeedRow = memo(function FeedRow({ failure, at }: { failure: FailureRowFragment; at: number }) {
  const t = useT();
  const to = pageOf(failure);
  const kind = t.kind[failure.kind] ?? failure.kind;
  return (
    <li
      className="absolute inset-x-0 flex items-center gap-3 border-b border-line px-3 hover:bg-ground-2"
      style={{ top: at, height: ROW }}
      data-failure={failure.id}
    >
      <Time at={failure.occurredAt} className="text-ink-2" />
      <span className="w-22 shrink-0">
        <StatusChip status={failure.severity} of="failure" />
      </span>
      {to ? (
        <Link to={to} preload={false} className="link w-50 shrink-0 truncate after:absolute after:inset-0">
          {kind}
        </Link>
      ) : (
        <span className="w-50 shrink-0 truncate">{kind}</span>
      )}
      <span className="mono w-32 shrink-0 truncate" title={`${failure.subjectType} ${failure.subjectId}`}>
        {failure.subjectType === "OUTBOX_EVENT"
          ? "EVENT"
          : failure.subjectType === "INBOUND_DEAD_LETTER"
            ? "MESSAGE"
            : failure.subjectType}{" "}
        {failure.subjectId}
      </span>
      <span className="mono w-50 shrink-0 truncate" title={failure.code}>
        {failure.code}
      </span>
      <span className="min-w-0 flex-1 truncate text-ink-2" title={failure.message}>
        {failure.message}
      </span>
    </li>
  );
});
