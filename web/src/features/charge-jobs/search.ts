import { listSearch } from "@/features/list/search";

/** What this list can be searched by. */
export const TEXTS = ["memberId", "sourceChargeId", "chargeEventId"] as const;

export const jobSearch = listSearch([...TEXTS, "jobType"]);
