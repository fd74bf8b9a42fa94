import { CircleX, RotateCcw, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { useT } from "@/i18n";
import type { Dictionary } from "@/i18n/en";
import { ApiError } from "@/lib/gql";
import { CopyId } from "./CopyId";

function about(error: unknown): { code: string; message: string; requestId: string | undefined } {
  if (error instanceof ApiError) return { code: error.code, message: error.message, requestId: error.requestId };
  return { code: "CLIENT", message: String(error), requestId: undefined };
}

/** Codes whose words leave nothing to be added. */
const SAY_IT_ALL = new Set(["INTERNAL", "UNREACHABLE", "DISCONNECTED", "UNAUTHENTICATED"]);

/** What an error is, in words, with what support asks for. */
export function ErrorText({ error }: { error: unknown }) {
  const t = useT();
  const { code, message, requestId } = about(error);
  const words = t.error.codes[code] ?? (code.startsWith("HTTP_") ? t.error.codes.UNREACHABLE : undefined);
  return (
    <>
      <span>{words ?? message}</span>{" "}
      {words && !SAY_IT_ALL.has(code) ? <span className="text-ink-2">{message}</span> : null}
      <span className="flex flex-wrap items-center gap-x-3 text-xs text-ink-2">
        <span>
          {t.error.code} <span className="mono text-ink">{code}</span>
        </span>
        {requestId ? (
          <span className="inline-flex items-center gap-1">
            {t.error.requestId} <CopyId id={requestId} what={t.error.requestId} />
          </span>
        ) : null}
      </span>
    </>
  );
}

/** The same in one line. */
export function errorLine(error: unknown, t: Dictionary): string {
  const { code, message } = about(error);
  return `${t.error.codes[code] ?? message} (${code})`;
}

export function refusalLine(refused: { code: string; message: string }, t: Dictionary): string {
  return `${t.confirm.codes[refused.code] ?? refused.message} (${refused.code})`;
}

/** The server has said no, and why; its own words are the detail. */
export function Refusal({ refused, className }: { refused: { code: string; message: string }; className?: string }) {
  const t = useT();
  return (
    <p role="alert" className={`rounded-md bg-bad-ground p-2 text-bad ${className ?? ""}`}>
      {t.confirm.codes[refused.code] ?? t.confirm.refused}{" "}
      <span lang="en" className="text-ink">
        {refused.message}
      </span>{" "}
      <span className="mono">{refused.code}</span>
    </p>
  );
}

/** Nothing can be shown. */
export function ErrorState({ error, retry, children }: { error: unknown; retry: () => void; children?: ReactNode }) {
  const t = useT();
  return (
    <div role="alert" className="panel m-3 flex max-w-2xl items-start gap-3 p-4">
      <CircleX size={18} className="mt-0.5 shrink-0 text-bad" aria-hidden="true" />
      <div className="min-w-0 flex-1">
        <p className="font-semibold">{t.error.title}</p>
        <ErrorText error={error} />
      </div>
      <button type="button" className="button" onClick={retry}>
        <RotateCcw size={13} aria-hidden="true" />
        {t.error.retry}
      </button>
      {children}
    </div>
  );
}

/** What is shown is old: it stays, and this says so. */
export function StaleNotice({
  error,
  retry,
  stale,
}: {
  error: unknown;
  retry: () => void;
  stale?: string | undefined;
}) {
  const t = useT();
  return (
    <div role="alert" className="flex items-center gap-3 border-t border-line bg-warn-ground px-4 py-1.5">
      <TriangleAlert size={15} className="shrink-0 text-warn" aria-hidden="true" />
      <div className="min-w-0 flex-1">
        <span className="text-warn">{stale ?? t.error.stale}</span> <ErrorText error={error} />
      </div>
      <button type="button" className="button" onClick={retry}>
        <RotateCcw size={13} aria-hidden="true" />
        {t.error.retry}
      </button>
    </div>
  );
}

/** There is nothing, and why. */
export function EmptyState({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-14 text-center text-ink-2">
      <p className="max-w-xl">{children}</p>
      {action}
    </div>
  );
}
