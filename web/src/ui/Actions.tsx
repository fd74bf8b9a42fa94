import { type ReactNode, useId, useState } from "react";
import type { ActionFragment } from "@/gql/graphql";
import { useT } from "@/i18n";
import { session } from "@/lib/session";
import { useStore } from "@/lib/store";
import { ReasonDialog, type Told } from "./ReasonDialog";

/** What the server says about an action that was carried out, or refused. */
export interface Outcome {
  /** The row's state after it. */
  status: string | undefined;
  refused: { code: string; message: string } | undefined;
}

export interface Act {
  action: ActionFragment;
  /** Does it; `attempt` is the same for as long as it is the same wish, so that a repetition has no second effect. */
  run: (reason: string, attempt: string) => Promise<Outcome>;
  danger?: boolean;
  /** What to do first, or it will not help. */
  hint?: string | undefined;
  /** What the dialog repeats of the row. */
  facts?: [string, ReactNode][];
  /** The states that it leads to when it has come to its end; another one means that the end is not known. */
  ends?: readonly string[];
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
  const name = act.action.action;
  const label = t.action[name] ?? name;
  const run = async (reason: string, attempt: string): Promise<Told> => {
    const { status, refused } = await act.run(reason, attempt);
    if (refused) return { refused };
    const words = t.status[status ?? ""] ?? status ?? "";
    if (act.ends && !act.ends.includes(status ?? "")) return { unclear: t.unclear[name]?.(words) ?? words };
    return { done: t.done[name]?.(words) ?? label };
  };
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
        {refusal ?? t.effect[name]}
      </p>
      {isOpen ? (
        <ReasonDialog
          draftKey={`${name} ${what}`}
          title={t.confirm.title(label, what)}
          label={label}
          effect={t.effect[name]}
          danger={act.danger}
          hint={act.hint}
          facts={act.facts}
          refusal={refusal}
          run={run}
          close={() => setOpen(false)}
        />
      ) : null}
    </>
  );
}
