import { type ReactNode, useEffect } from "react";

/** The page's name, above it and in the browser's tab. */
export function PageTitle({
  title,
  note,
  back,
  children,
}: {
  title: string;
  note?: string | undefined;
  back?: ReactNode;
  children?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Paydesk`;
  }, [title]);
  return (
    <header className="flex h-11 shrink-0 items-center gap-3 border-b border-line px-4">
      {back}
      <h1 className="truncate text-lg">{title}</h1>
      {note ? (
        <span className="whitespace-nowrap text-ink-2" data-count>
          {note}
        </span>
      ) : null}
      <div className="ml-auto flex items-center gap-3">{children}</div>
    </header>
  );
}
