import { listSearch } from "@/features/list/search";

/** What this list can be searched by. */
export const TEXTS = ["userId", "meetingId", "orderId", "paymentKey", "flowId"] as const;

export const paymentSearch = listSearch(TEXTS);
