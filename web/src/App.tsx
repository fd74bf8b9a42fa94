import { useCallback, useEffect, useState } from "react";
import { SignInPage } from "@/features/session/SignInPage";
import { DictionaryContext, loadDictionary } from "@/i18n";
import type { Dictionary } from "@/i18n/en";
import { hasEnded, loadSession, session } from "@/lib/session";
import { dress, useSettings } from "@/lib/settings";
import { useStore } from "@/lib/store";
import { disconnect, whenRefused } from "@/lib/ws";
import { ErrorState } from "@/ui/Messages";
import { Shell } from "@/ui/Shell";

/** Everything beneath the addresses: the language, and who is signed in. */
export function App() {
  const { locale } = useSettings();
  const [dictionary, setDictionary] = useState<Dictionary>();
  useEffect(() => {
    let isCurrent = true;
    void loadDictionary(locale).then((loaded) => {
      if (!isCurrent) return;
      setDictionary(loaded);
      dress();
    });
    return () => {
      isCurrent = false;
    };
  }, [locale]);
  if (!dictionary) return null;
  return (
    <DictionaryContext value={dictionary}>
      <Session />
    </DictionaryContext>
  );
}

function Session() {
  const known = useStore(session);
  const isOver = useStore(hasEnded);
  const [error, setError] = useState<unknown>();
  /** Grows when the server has dropped us: whatever is watched is watched anew. */
  const [generation, setGeneration] = useState(0);
  const load = useCallback(
    () =>
      loadSession().then(
        () => setError(undefined),
        (failed) => setError(failed),
      ),
    [],
  );
  useEffect(() => {
    whenRefused(() => {
      disconnect();
      void load().then(() => setGeneration((count) => count + 1));
    });
    void load();
  }, [load]);
  const viewer = known?.viewer;
  const expiresAt = viewer?.expiresAt;
  useEffect(() => {
    if (!expiresAt) return;
    const left = Date.parse(expiresAt) - Date.now();
    const timer = setTimeout(() => void load(), Math.min(Math.max(left + 1_000, 1_000), 2 ** 31 - 1));
    return () => clearTimeout(timer);
  }, [expiresAt, load]);
  if (!known) return error ? <ErrorState error={error} retry={() => void load()} /> : null;
  if (!viewer) return <SignInPage session={known} hasEnded={isOver} />;
  return <Shell key={generation} session={known} viewer={viewer} />;
}
