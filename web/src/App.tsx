import { useEffect, useRef, useState } from "react";
import { SignInPage } from "@/features/session/SignInPage";
import { DictionaryContext, loadDictionary } from "@/i18n";
import type { Dictionary } from "@/i18n/en";
import { loadSession, session } from "@/lib/session";
import { dress, useSettings } from "@/lib/settings";
import { useStore } from "@/lib/store";
import { connection, disconnect, whenRefused } from "@/lib/ws";
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
  const [error, setError] = useState<unknown>();
  const wasSignedIn = useRef(false);
  const load = () =>
    void loadSession().then(
      () => setError(undefined),
      (failed) => setError(failed),
    );
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => {
    whenRefused(load);
    load();
  }, []);
  const viewer = known?.viewer;
  const expiresAt = viewer?.expiresAt;
  useEffect(() => {
    if (!expiresAt) return;
    wasSignedIn.current = true;
    if (connection.get() === "refused") disconnect();
    const timer = setTimeout(load, Math.min(Math.max(Date.parse(expiresAt) - Date.now() + 1_000, 1_000), 2 ** 31 - 1));
    return () => clearTimeout(timer);
  });
  if (!known) return error ? <ErrorState error={error} retry={load} /> : null;
  if (!viewer) return <SignInPage session={known} hasEnded={wasSignedIn.current && connection.get() === "refused"} />;
  return <Shell session={known} viewer={viewer} />;
}
