import { Dialog } from "@base-ui/react/dialog";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, Fragment, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { useT } from "@/i18n";
import { isAnswered } from "@/lib/gql";
import { useOnce } from "@/lib/once";
import { lastViewer, session } from "@/lib/session";
import { useStore } from "@/lib/store";
import { paused } from "./Live";
import { ErrorText, errorLine, Refusal, refusalLine } from "./Messages";
import { tell, warn } from "./Notices";

/** What became of it: done, refused, or begun without an end that is known. */
export type Told = { done: string } | { unclear: string } | { refused: { code: string; message: string } };

interface Props {
  /** What it would be done to: a reason that was typed is there again when its dialog is. */
  draftKey: string;
  title: string;
  label: string;
  effect: string | undefined;
  danger?: boolean | undefined;
  hint?: string | undefined;
  /** What it is about, so that nobody has to remember it. */
  facts?: [string, ReactNode][] | undefined;
  /** Why it cannot be done any more; then what became of the thing is known. */
  refusal?: string | undefined;
  children?: ReactNode;
  /** Does it. `attempt` names the intent: the same again, under the same name, has no second effect. */
  run: (reason: string, attempt: string) => Promise<Told>;
  close: () => void;
}

interface Draft {
  reason: string;
  attempt: string;
  /** Whether it was sent and no answer came: what was sent must not change until one does. */
  isUnknown: boolean;
}

const fresh = (reason = ""): Draft => ({ reason, attempt: crypto.randomUUID(), isUnknown: false });

/** When a page that is paused looks what became of one's own action. */
const FOLLOWED_MS = [1_000, 3_000, 10_000];

/** How long a dialog whose work is done still takes clicks, so that the second of two does not fall through it. */
const LINGER_MS = 300;

/** What was begun and not carried out, for as long as the page is open. */
const drafts = new Map<string, Draft>();

function useDraft(what: string) {
  // Nobody goes on with what another person began.
  const key = `${lastViewer.get()?.subject} ${what}`;
  const [draft, setDraft] = useState(() => drafts.get(key) ?? fresh());
  const change = (next: Draft) => {
    drafts.set(key, next);
    setDraft(next);
  };
  return { draft, change, forget: () => drafts.delete(key) };
}

/** Asks for a reason and does it. Only its own buttons and Escape close it: a click beside it loses nothing. */
export function ReasonDialog(props: Props) {
  return (
    <Dialog.Root open disablePointerDismissal onOpenChange={(isOpen) => isOpen || props.close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Popup className="popup fixed top-1/2 left-1/2 z-40 max-h-[calc(100dvh-16px)] w-[440px] max-w-[calc(100vw-32px)] -translate-x-1/2 -translate-y-1/2 overflow-y-auto">
          <Asked {...props} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Asked({ draftKey, title, label, effect, danger, hint, facts, refusal, children, run, close }: Props) {
  const t = useT();
  const environment = useStore(session)?.environment ?? "";
  const queries = useQueryClient();
  const { draft, change, forget } = useDraft(draftKey);
  const [isMissing, setMissing] = useState(false);
  const once = useOnce();
  const ids = { reason: useId(), hint: useId() };
  /** Whether there is still somebody who sees what is said here. */
  const isSeen = useRef(true);
  useEffect(() => {
    isSeen.current = true;
    return () => {
      isSeen.current = false;
    };
  }, []);
  const sending = useMutation({
    mutationFn: () => run(draft.reason.trim(), draft.attempt),
    onSuccess: (told) => {
      void queries.invalidateQueries();
      // What one has done oneself is followed for a moment, also by a page that stands still otherwise.
      if (paused.get()) for (const wait of FOLLOWED_MS) setTimeout(() => void queries.invalidateQueries(), wait);
      if ("done" in told) {
        forget();
        tell(told.done);
        setTimeout(() => isSeen.current && close(), LINGER_MS);
        return;
      }
      if (!isSeen.current) {
        warn(`${title}: ${"refused" in told ? refusalLine(told.refused, t) : told.unclear}`);
      }
      // A refusal is an answer: whatever is sent next is another wish. What is under way keeps its name.
      change("refused" in told ? fresh(draft.reason) : { ...draft, isUnknown: false });
    },
    onError: (error) => {
      if (!isSeen.current) warn(`${title}: ${errorLine(error, t)}`);
      if (!isAnswered(error)) change({ ...draft, isUnknown: true });
    },
  });
  /** Looks what became of what was sent; only if nothing did may something else be sent. */
  const looking = useMutation({
    mutationFn: () => queries.refetchQueries({ type: "active" }, { throwOnError: true }),
    onSuccess: () => {
      change(fresh(draft.reason));
      sending.reset();
    },
  });
  const isOver = refusal !== undefined;
  const isDone = sending.data !== undefined && "done" in sending.data;
  const isBusy = sending.isPending || looking.isPending || isDone;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setMissing(draft.reason.trim() === "");
    if (draft.reason.trim() !== "" && !isOver && !isBusy) once(() => sending.mutateAsync());
  };
  const told = sending.data;
  const error = sending.error ?? looking.error;
  return (
    <form onSubmit={submit}>
      <div className="space-y-3 p-4">
        <Dialog.Title className="text-lg">{title}</Dialog.Title>
        <Dialog.Description className="text-ink-2">{effect}</Dialog.Description>
        {facts ? (
          <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1">
            {facts.map(([name, value]) => (
              <Fragment key={name}>
                <dt className="text-ink-2">{name}</dt>
                <dd className="font-medium wrap-anywhere">{value}</dd>
              </Fragment>
            ))}
          </dl>
        ) : null}
        {hint ? <p className="rounded-md bg-warn-ground p-2 text-warn">{hint}</p> : null}
        <p>
          {t.confirm.environment} <strong>{environment}</strong>
        </p>
        {children}
        <div>
          <label htmlFor={ids.reason} className="font-medium">
            {t.confirm.reason}
          </label>
          <textarea
            id={ids.reason}
            className="field mt-1 block max-h-40 w-full resize-none"
            rows={3}
            maxLength={200}
            value={draft.reason}
            readOnly={draft.isUnknown || isBusy}
            aria-describedby={ids.hint}
            aria-invalid={isMissing}
            onChange={(event) => change({ ...draft, reason: event.target.value })}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit(event);
            }}
          />
          <p
            id={ids.hint}
            role={isMissing ? "alert" : undefined}
            className={`mt-1 text-xs ${isMissing ? "text-bad" : "text-ink-2"}`}
          >
            {isMissing ? t.confirm.reasonMissing : t.confirm.reasonHint}
          </p>
        </div>
        {told && "refused" in told ? <Refusal refused={told.refused} /> : null}
        {told && "unclear" in told ? (
          <p role="alert" className="rounded-md bg-warn-ground p-2 text-warn">
            {told.unclear}
          </p>
        ) : null}
        {error ? (
          <div role="alert" className="rounded-md bg-bad-ground p-2 text-bad">
            <ErrorText error={error} />
          </div>
        ) : null}
        {isOver && !isBusy ? (
          <p role="status" className="rounded-md bg-warn-ground p-2 text-warn">
            {t.confirm.over} {refusal}
          </p>
        ) : draft.isUnknown ? (
          <div role="status" className="rounded-md bg-warn-ground p-2 text-warn">
            <p>{t.confirm.unknown}</p>
            <button
              type="button"
              className="button mt-2"
              aria-disabled={isBusy}
              onClick={() => isBusy || looking.mutate()}
            >
              {t.confirm.look}
            </button>
          </div>
        ) : looking.isSuccess && !told ? (
          <p role="status" className="rounded-md bg-warn-ground p-2 text-warn">
            {t.confirm.notDone}
          </p>
        ) : null}
      </div>
      <div className="flex justify-end gap-2 border-t border-line bg-ground-2 p-3">
        <Dialog.Close className="button">{told || isOver ? t.keys.close : t.confirm.cancel}</Dialog.Close>
        <button
          type="submit"
          className="button"
          data-kind={danger ? "danger" : "primary"}
          aria-disabled={isBusy || isOver}
        >
          {sending.isPending ? t.confirm.working : label}
        </button>
      </div>
    </form>
  );
}
