import type { ChargeEventInput, PromotionRowFragment } from "@/gql/graphql";
import type { Zone } from "@/lib/settings";
import { fromLocalInput, toLocalInput } from "@/lib/time";

/** What the form's fields hold; the times as their inputs show them, in `zone`. */
export interface Draft {
  zone: Zone;
  title: string;
  startAt: string;
  endAt: string;
  addPercent: string;
  availableCount: string;
  isActive: boolean;
}

export type Field = Exclude<keyof Draft, "zone">;

export const FIELDS: Field[] = ["title", "startAt", "endAt", "addPercent", "availableCount", "isActive"];
const TIMES = ["startAt", "endAt"] as const;

export function draftOf(promotion: PromotionRowFragment | undefined, zone: Zone): Draft {
  return {
    zone,
    title: promotion?.title ?? "",
    startAt: toLocalInput(promotion?.startAt, zone),
    endAt: toLocalInput(promotion?.endAt, zone),
    addPercent: promotion ? String(promotion.addPercent) : "",
    availableCount: String(promotion?.availableCount ?? 0),
    isActive: promotion?.isActive ?? true,
  };
}

/** The same moments, as another zone shows them. */
export function inZone(draft: Draft, zone: Zone): Draft {
  const moved = { ...draft, zone };
  for (const field of TIMES) moved[field] = toLocalInput(fromLocalInput(draft[field], draft.zone), zone);
  return moved;
}

/** What is to be saved. A time that nobody has touched stays to the last digit what it was. */
export function inputOf(draft: Draft, base: PromotionRowFragment | undefined): ChargeEventInput {
  const untouched = draftOf(base, draft.zone);
  const time = (field: (typeof TIMES)[number]) =>
    base && draft[field] === untouched[field] ? base[field] : (fromLocalInput(draft[field], draft.zone) ?? "");
  return {
    title: draft.title.trim(),
    startAt: time("startAt"),
    endAt: time("endAt"),
    // All of what was typed: number fields take "1e2" too, which is a hundred.
    addPercent: Number(draft.addPercent),
    availableCount: Number(draft.availableCount),
    isActive: draft.isActive,
  };
}

/** A field that somebody else has changed while the form was open. */
export interface Change {
  field: Field;
  before: string | boolean;
  now: string | boolean;
  /** What stands in the form instead, if it was changed there too. */
  isMine: boolean;
}

/** The form over what the promotion is by now: what was typed stays, what was not typed follows. */
export function rebased(draft: Draft, base: PromotionRowFragment, newest: PromotionRowFragment) {
  const [before, now] = [draftOf(base, draft.zone), draftOf(newest, draft.zone)];
  const merged = { ...draft };
  const changes: Change[] = [];
  for (const field of FIELDS) {
    const isMine = draft[field] !== before[field];
    if (!isMine) Object.assign(merged, { [field]: now[field] });
    if (base[field] !== newest[field]) changes.push({ field, before: before[field], now: now[field], isMine });
  }
  return { draft: merged, changes };
}

/** Whether the promotion is what was to be saved. */
export function isLike(promotion: PromotionRowFragment, input: ChargeEventInput): boolean {
  return (
    promotion.title === input.title &&
    Date.parse(promotion.startAt) === Date.parse(input.startAt) &&
    Date.parse(promotion.endAt) === Date.parse(input.endAt) &&
    promotion.addPercent === input.addPercent &&
    promotion.availableCount === input.availableCount &&
    promotion.isActive === input.isActive
  );
}
