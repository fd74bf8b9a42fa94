import { listSearch } from "@/features/list/search";

/** What this list can be searched by. */
export const TEXTS = [
  "eventId",
  "aggregateId",
  "aggregateType",
  "eventType",
  "errorCode",
  "correlationId",
  "flowId",
] as const;

export const outboxSearch = listSearch(TEXTS);
