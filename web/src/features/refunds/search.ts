import { listSearch } from "@/features/list/search";

/** What this list can be searched by. */
export const TEXTS = ["paymentId", "userId", "meetingId", "failureCode", "flowId"] as const;

export const refundSearch = listSearch([...TEXTS, "source"]);
