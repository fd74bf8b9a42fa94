import { listSearch } from "@/features/list/search";

/** What this list can be searched by. */
export const TEXTS = ["memberId", "orderId", "gatewayTransactionId"] as const;

export const chargeSearch = listSearch([...TEXTS, "kind", "gateway"]);
