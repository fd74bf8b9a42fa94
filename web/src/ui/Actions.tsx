import { Dialog } from "@base-ui/react/dialog";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import type { ActionFragment } from "@/gql/graphql";
import { useT } from "@/i18n";
import { session } from "@/lib/session";
import { useStore } from "@/lib/store";
import { ErrorText } from "./Messages";
import { tell } from "./Notices";

/** What the server says about an action that was carried out, or refused. */
export interface Outcome {
  /** The row's state after it. */
  status: string | undefined;
  refused: { code: string; message: string } | undefined;
}

export interface Act {
  action: ActionFragment;
  /** Does it; `attempt` is the same for as long as the dialog is open, so that a repetition has no second effect. */
  run: (reason: string, attempt: string) => Promise<Outcome>;
  danger?: boolean;
  /** What to do first, or it will not help. */
  hint?: string | undefined;
}

/** What can be done to a row now. What is not allowed stays visible and says why; the server decides again. */
export function Actions({ acts, what, status }: { acts: Act[]; what: string; status: string }) {
  return (
    <ul className="divide-y divide-line">
      {acts.map((act) => (
        <li key={act.action.action} className="p-3">
          <ConfirmAction act={act} what={what} status={status} />
        </li>
      ))}
    </ul>
  );
}

function useRefusal(action: ActionFragment, status: string): string | undefined {
  const t = useT();
  const viewer = useStore(session)?.viewer;
  if (action.allowed) return undefined;
  if (!viewer?.roles.includes("ADMIN")) return t.refusedBecause.role;
  if (action.reason?.includes("under way")) return t.refusedBecause.underWay;
  return t.refusedBecause.state(t.status[status] ?? status);
}

function ConfirmAction({ act, what, status }: { act: Act; what: string; status: string }) {
  const t = useT();
  const refusal = useRefusal(act.action, status);
  const [isOpen, setOpen] = useState(false);
  const reasonId = useId();
  const label = t.action[act.action.action] ?? act.action.action;
  return (
    <>
      <button
        type="button"
        className="button w-full"
        data-kind={act.danger ? undefined : "primary"}
        aria-disabled={!act.action.allowed}
        aria-describedby={reasonId}
        onClick={() => act.action.allowed && setOpen(true)}
      >
        {label}
      </button>
      <p id={reasonId} className="mt-1 text-xs text-ink-2" title={act.action.reason ?? undefined}>
        {refusal ?? t.effect[act.action.action]}
      </p>
      <Dialog.Root open={isOpen} onOpenChange={setOpen}>
        {isOpen ? <Confirmation act={act} label={label} what={what} close={() => setOpen(false)} /> : null}
      </Dialog.Root>
    </>
  );
}

function Confirmation({ act, label, what, close }: { act: Act; label: string; what: string; close: () => void }) {
  const t = useT();
  const environment = useStore(session)?.environment ?? "";
  const queries = useQueryClient();
  const [reason, setReason] = useState("");
  const [isMissing, setMissing] = useState(false);
  const [attempt] = useState(() => crypto.randomUUID());
  const ids = { reason: useId(), hint: useId() };
  const name = act.action.action;
  const mutation = useMutation({
    mutationFn: () => act.run(reason.trim(), attempt),
    onSuccess: ({ status, refused }) => {
      void queries.invalidateQueries();
      if (refused) return;
      tell(t.done[name]?.(t.status[status ?? ""] ?? status ?? "") ?? label);
      close();
    },
  });
  const refused = mutation.data?.refused;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setMissing(reason.trim() === "");
    if (reason.trim() !== "" && !mutation.isPending) mutation.mutate();
  };
  return (
    <Dialog.Portal>
      <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
      <Dialog.Popup className="popup fixed top-1/2 left-1/2 z-40 w-[440px] max-w-[calc(100vw-32px)] -translate-x-1/2 -translate-y-1/2">
        <form onSubmit={submit}>
          <div className="space-y-3 p-4">
            <Dialog.Title className="text-lg">{t.confirm.title(label, what)}</Dialog.Title>
            <Dialog.Description className="text-ink-2">{t.effect[name]}</Dialog.Description>
            {act.hint ? <p className="rounded-md bg-warn-ground p-2 text-warn">{act.hint}</p> : null}
            <p>
              {t.confirm.environment} <strong>{environment}</strong>
            </p>
            <div>
              <label htmlFor={ids.reason} className="font-medium">
                {t.confirm.reason}
              </label>
              <textarea
                id={ids.reason}
                className="field mt-1 block w-full"
                rows={2}
                maxLength={200}
                value={reason}
                aria-describedby={ids.hint}
                aria-invalid={isMissing}
                onChange={(event) => setReason(event.target.value)}
                onKeyDown={(event) => {
                  if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit(event);
                }}
              />
              <p id={ids.hint} className={`mt-1 text-xs ${isMissing ? "text-bad" : "text-ink-2"}`}>
                {isMissing ? t.confirm.reasonMissing : t.confirm.reasonHint}
              </p>
            </div>
            {refused ? (
              <p role="alert" className="rounded-md bg-bad-ground p-2 text-bad">
                {t.confirm.codes[refused.code] ?? t.confirm.refused} <span className="text-ink">{refused.message}</span>{" "}
                <span className="mono">{refused.code}</span>
              </p>
            ) : null}
            {mutation.error ? (
              <div role="alert" className="rounded-md bg-bad-ground p-2 text-bad">
                <ErrorText error={mutation.error} />
              </div>
            ) : null}
          </div>
          <div className="flex justify-end gap-2 border-t border-line bg-ground-2 p-3">
            <Dialog.Close className="button">{t.confirm.cancel}</Dialog.Close>
            <button
              type="submit"
              className="button"
              data-kind={act.danger ? "danger" : "primary"}
              aria-disabled={mutation.isPending}
            >
              {mutation.isPending ? t.confirm.working : label}
            </button>
          </div>
        </form>
      </Dialog.Popup>
    </Dialog.Portal>
  );
}
