import { listSearch } from "@/features/list/search";

export const deadLetterSearch = listSearch([]);
