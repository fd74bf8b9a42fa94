import { createContext, useContext } from "react";
import type { Locale } from "@/lib/settings";
import type { Dictionary } from "./en";

/** Only the language that is shown is loaded. */
export async function loadDictionary(locale: Locale): Promise<Dictionary> {
  return locale === "ko" ? (await import("./ko")).ko : (await import("./en")).en;
}

export const DictionaryContext = createContext<Dictionary | undefined>(undefined);

export function useT(): Dictionary {
  const dictionary = useContext(DictionaryContext);
  if (!dictionary) throw new Error("no dictionary");
  return dictionary;
}
