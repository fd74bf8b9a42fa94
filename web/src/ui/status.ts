import {
  Ban,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CirclePause,
  CircleX,
  Clock,
  Info,
  LoaderCircle,
  type LucideIcon,
  RotateCcw,
  TriangleAlert,
  Undo2,
} from "lucide-react";

/** How a state looks. `bad` means that a person must act. */
export type Tone = "neutral" | "info" | "ok" | "warn" | "bad" | "paused";

interface Look {
  tone: Tone;
  icon: LucideIcon;
}

const look = (tone: Tone, icon: LucideIcon): Look => ({ tone, icon });

const WAITS = look("neutral", CircleDashed);
const RUNS = look("info", LoaderCircle);
const DONE = look("ok", CircleCheck);
const RETRIES = look("warn", RotateCcw);
const FAILED = look("bad", CircleX);

/** What means the same everywhere. */
const ALL: Record<string, Look> = {
  PENDING: WAITS,
  REQUESTED: RUNS,
  PROCESSING: RUNS,
  PUBLISHED: DONE,
  COMPLETED: DONE,
  DEAD_LETTERED: FAILED,
  REFUNDED: look("ok", Undo2),
  OPEN: look("bad", CircleAlert),
  REPLAYED: DONE,
  DISCARDED: look("neutral", Ban),
  INFO: look("info", Info),
  WARNING: look("warn", TriangleAlert),
  CRITICAL: look("bad", CircleAlert),
  APPROVED: DONE,
  ALREADY_DONE: DONE,
  IN_PROGRESS: RUNS,
  UNKNOWN: look("warn", CircleHelp),
  NOT_FOUND: look("neutral", CircleHelp),
  PUBLISHED_UNROUTABLE: DONE,
  STUCK: look("warn", Clock),
  REQUEST: WAITS,
  COMPLETE: DONE,
  DONE,
  ACTIVE: DONE,
  PLANNED: look("info", Clock),
  ENDED: look("neutral", CircleCheck),
  OFF: look("paused", CirclePause),
  ON_SALE: DONE,
  OFF_SALE: look("paused", CirclePause),
  LIVE: DONE,
  PAUSED: look("paused", CirclePause),
};

/** What FAILED means: an event is tried again, a declined payment is over, a refund waits for a person. */
const OF: Record<string, Record<string, Look>> = {
  event: { FAILED: RETRIES },
  payment: { FAILED: look("neutral", CircleX) },
  refund: { FAILED },
  attempt: { STUCK: RETRIES },
  call: { REFUSED: look("neutral", CircleX) },
};

export type Of =
  | "event"
  | "payment"
  | "refund"
  | "deadLetter"
  | "charge"
  | "job"
  | "promotion"
  | "product"
  | "failure"
  | "attempt"
  | "call";

export function lookOf(status: string, of: Of): Look {
  return OF[of]?.[status] ?? ALL[status] ?? (of === "attempt" ? RETRIES : FAILED);
}
