import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { useT } from "@/i18n";

/** Copies a text exactly as it is. */
export function CopyButton({ text, what, className }: { text: string; what: string; className?: string }) {
  const t = useT();
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const label = isCopied ? t.copy.copied : t.copy.copy(what);
  return (
    <button
      type="button"
      className={`relative z-2 inline-flex size-5 shrink-0 items-center justify-center rounded-md text-ink-2 hover:bg-ground-3 hover:text-ink ${className ?? ""}`}
      title={label}
      aria-label={label}
      onClick={async (event) => {
        event.stopPropagation();
        await navigator.clipboard.writeText(text);
        setCopied(true);
      }}
    >
      {isCopied ? <Check size={12} aria-hidden="true" /> : <Copy size={12} aria-hidden="true" />}
    </button>
  );
}

/** An id in full, to read and to copy. */
export function CopyId({ id, what }: { id: string | null | undefined; what: string }) {
  if (!id) return <span className="text-ink-2">–</span>;
  return (
    <span className="inline-flex max-w-full items-center gap-1">
      <span className="mono min-w-0 [td_&]:truncate" title={id}>
        {id}
      </span>
      <CopyButton text={id} what={what} />
    </span>
  );
}
