import { listSearch } from "@/features/list/search";

export const promotionSearch = listSearch([]);
