import { Activity, useCallback, useEffect, useState } from "react";
import { SignInPage } from "@/features/session/SignInPage";
import { DictionaryContext, loadDictionary } from "@/i18n";
import type { Dictionary } from "@/i18n/en";
import { hasEnded, lastViewer, loadSession, session, whenOtherTabs } from "@/lib/session";
import { dress, useSettings } from "@/lib/settings";
import { useStore } from "@/lib/store";
import { disconnect, rewatch, whenRefused } from "@/lib/ws";
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
  const last = useStore(lastViewer);
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
      void load().then(() => session.get()?.viewer && rewatch());
    });
    const look = () => void load();
    const shown = () => document.visibilityState === "visible" && look();
    const stopListening = whenOtherTabs(look);
    document.addEventListener("visibilitychange", shown);
    look();
    return () => {
      stopListening();
      document.removeEventListener("visibilitychange", shown);
    };
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
  const worker = viewer ?? last;
  return (
    <>
      {/* A session that ended takes nothing away: what was typed is there again for whoever had typed it. */}
      {worker ? (
        <Activity mode={viewer ? "visible" : "hidden"}>
          <Shell key={worker.subject} session={known} viewer={worker} />
        </Activity>
      ) : null}
      {viewer ? null : <SignInPage session={known} hasEnded={isOver} />}
    </>
  );
}
