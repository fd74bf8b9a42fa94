import { Link, useBlocker } from "@tanstack/react-router";
import { type FormEvent, type InputHTMLAttributes, type ReactNode, useState } from "react";
import type { PromotionRowFragment } from "@/gql/graphql";
import { useT } from "@/i18n";
import type { Dictionary } from "@/i18n/en";
import { session } from "@/lib/session";
import { useStore } from "@/lib/store";
import { zoneName } from "@/lib/time";
import { Labelled } from "@/ui/Labelled";
import { ErrorText, Refusal } from "@/ui/Messages";
import { useZone } from "@/ui/zone";
import { type Change, type Draft, draftOf, FIELDS, type Field, inputOf, inZone, rebased } from "./draft";
import { useSave } from "./save";

/** Years that every zone and the database agree on. */
const WHEN = { min: "1970-01-01T00:00", max: "9999-12-31T23:59:59" };
/** The largest number that the API takes. */
const MOST = 2_147_483_647;

/** What was typed over what is there by now. */
function useDraft(promotion: PromotionRowFragment | undefined) {
  const zone = useZone();
  const [base, setBase] = useState(promotion);
  const [draft, setDraft] = useState(() => draftOf(promotion, zone));
  const [changes, setChanges] = useState<Change[]>([]);
  if (draft.zone !== zone) setDraft(inZone(draft, zone));
  const isNewer = promotion && base && Date.parse(promotion.updatedAt) > Date.parse(base.updatedAt);
  if (isNewer && draft.zone === zone) {
    const next = rebased(draft, base, promotion);
    setBase(promotion);
    setDraft(next.draft);
    const again = new Set(next.changes.map(({ field }) => field));
    setChanges([...changes.filter(({ field }) => !again.has(field)), ...next.changes]);
  }
  const start = (saved: PromotionRowFragment) => {
    setBase(saved);
    setDraft(draftOf(saved, zone));
    setChanges([]);
  };
  return { base, draft, setDraft, changes, start };
}

export function PromotionForm({ promotion }: { promotion?: PromotionRowFragment }) {
  const t = useT();
  const known = useStore(session);
  const isAdmin = known?.viewer?.roles.includes("ADMIN") ?? false;
  const { base, draft, setDraft, changes, start } = useDraft(promotion);
  const [reason, setReason] = useState("");
  const saving = useSave(base, (saved) => {
    start(saved);
    setReason("");
  });
  const { refused, made } = saving;
  const untouched = draftOf(base, draft.zone);
  const isTouched =
    isAdmin && !saving.isSaved && !made && (reason !== "" || FIELDS.some((name) => draft[name] !== untouched[name]));
  useBlocker({
    // Another zone is the same page.
    shouldBlockFn: ({ current, next }) => isTouched && current.pathname !== next.pathname && !confirm(t.charge.leave),
    enableBeforeUnload: isTouched,
  });
  const wrong = refused?.field?.at(-1);
  /** What was looked through and is about to be saved; typing on takes it back. */
  const [asked, setAsked] = useState<typeof draft>();
  const isAsked = asked === draft && !saving.isPending;
  const save = (isWanted: boolean) => {
    setAsked(undefined);
    if (isAdmin) saving.save({ input: inputOf(draft, base), reason: reason.trim(), isWanted });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isAdmin) setAsked(draft);
  };
  const field = (name: Exclude<Field, "isActive">, attributes: InputHTMLAttributes<HTMLInputElement>) => (
    <Labelled
      label={t.field[name]}
      isWrong={wrong === name}
      {...attributes}
      value={draft[name]}
      onChange={(event) => setDraft({ ...draft, [name]: event.target.value })}
    />
  );
  // Seconds are asked for where there are some; otherwise minutes will do.
  const step = (text: string) => (text.length > 19 ? 0.001 : 1);
  return (
    <form onSubmit={submit}>
      {/* While it is being saved, nothing is typed that would be lost with the answer. */}
      <fieldset disabled={!isAdmin || saving.isPending} className="space-y-3 p-3">
        {field("title", { required: true, maxLength: 100, className: "w-full" })}
        <div className="flex flex-wrap gap-4">
          {field("startAt", { type: "datetime-local", required: true, step: step(draft.startAt), ...WHEN })}
          {field("endAt", { type: "datetime-local", required: true, step: step(draft.endAt), ...WHEN })}
          <span className="self-end pb-1 text-xs text-ink-2">{t.charge.zone(zoneName(draft.zone))}</span>
        </div>
        <div className="flex flex-wrap gap-4">
          {field("addPercent", { type: "number", min: 1, max: 1000, step: 1, required: true, className: "w-28" })}
          {field("availableCount", { type: "number", min: 0, max: MOST, step: 1, required: true, className: "w-36" })}
          <span className="self-end pb-1 text-xs text-ink-2">{`0: ${t.charge.unlimited}`}</span>
        </div>
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={draft.isActive}
            onChange={(event) => setDraft({ ...draft, isActive: event.target.checked })}
          />
          {t.field.isActive}
        </label>
        <Labelled
          label={t.confirm.reason}
          required
          pattern=".*\S.*"
          maxLength={200}
          className="w-full"
          title={t.confirm.reasonHint}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </fieldset>
      {changes.length > 0 ? <Changed changes={changes} /> : null}
      {made ? (
        <Notice>
          {t.charge.madeBefore}{" "}
          <Link to="/promotions/$id" params={{ id: made.id }} className="link">
            {`${t.thing.promotion} ${made.id} · ${made.title}`}
          </Link>
          <button type="button" className="button mt-2 flex" onClick={() => save(true)}>
            {t.charge.makeAnother}
          </button>
        </Notice>
      ) : null}
      {refused && !isAsked ? <Refusal refused={refused} className="mx-3 mb-3" /> : null}
      {isAsked ? (
        <Sure
          before={base ? untouched : undefined}
          after={draft}
          save={() => save(false)}
          back={() => setAsked(undefined)}
        />
      ) : null}
      {saving.error ? (
        <div role="alert" className="mx-3 mb-3 rounded-md bg-bad-ground p-2 text-bad">
          <ErrorText error={saving.error} />
          {saving.isUnknown ? <p className="text-ink">{t.charge.unknown}</p> : null}
        </div>
      ) : null}
      <div className="flex items-center gap-3 border-t border-line bg-ground-2 p-3">
        <button
          type="submit"
          className="button"
          data-kind="primary"
          aria-disabled={!isAdmin || saving.isPending || isAsked}
        >
          {saving.isPending ? t.confirm.working : t.charge.save}
        </button>
        <span className="text-xs text-ink-2">{isAdmin ? t.charge.hint : t.charge.onlyAdmin}</span>
        <span className="ml-auto">
          {t.confirm.environment} <strong>{known?.environment}</strong>
        </span>
      </div>
    </form>
  );
}

function Notice({ children }: { children: ReactNode }) {
  return (
    <div role="alert" className="mx-3 mb-3 rounded-md bg-warn-ground p-2 text-warn">
      {children}
    </div>
  );
}

interface SureProps {
  before: Draft | undefined;
  after: Draft;
  save: () => void;
  back: () => void;
}

/** What is about to be saved, once more: bonuses are paid by it. */
function Sure({ before, after, save, back }: SureProps) {
  const t = useT();
  return (
    <Notice>
      <p>{before ? t.charge.sureToChange : t.charge.sureToMake}</p>
      <ul className="list-disc pl-5">
        {FIELDS.filter((field) => !before || before[field] !== after[field]).map((field) => (
          <li key={field}>
            {t.field[field]}: {before ? <s>{shown(before[field], t)}</s> : null} {before ? "→" : null}{" "}
            <strong>{shown(after[field], t)}</strong>
          </li>
        ))}
      </ul>
      <div className="mt-2 flex gap-2">
        {/* biome-ignore lint/a11y/noAutofocus: it is what the press of Save leads to */}
        <button type="button" className="button" data-kind="primary" autoFocus onClick={save}>
          {t.charge.sure}
        </button>
        <button type="button" className="button" onClick={back}>
          {t.confirm.cancel}
        </button>
      </div>
    </Notice>
  );
}

function shown(value: string | boolean, t: Dictionary): string {
  return typeof value === "boolean" ? (value ? t.charge.on : t.charge.off) : value.replace("T", " ");
}

/** What somebody else has changed, field by field. */
function Changed({ changes }: { changes: Change[] }) {
  const t = useT();
  return (
    <Notice>
      <p>{t.charge.changed}</p>
      <ul className="list-disc pl-5">
        {FIELDS.flatMap((field) => changes.filter((change) => change.field === field)).map((change) => (
          <li key={change.field}>
            {t.field[change.field]}: <s>{shown(change.before, t)}</s> → <strong>{shown(change.now, t)}</strong>
            {change.isMine ? ` (${t.charge.mineStays})` : null}
          </li>
        ))}
      </ul>
    </Notice>
  );
}
