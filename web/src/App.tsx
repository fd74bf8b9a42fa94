import { Activity, useCallback, useEffect, useState } from "react";
import { SignInPage } from "@/features/session/SignInPage";
import { DictionaryContext, loadDictionary, useT } from "@/i18n";
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
  const [isMissing, setMissing] = useState(false);
  useEffect(() => {
    let isCurrent = true;
    loadDictionary(locale).then(
      (loaded) => {
        if (!isCurrent) return;
        setDictionary(loaded);
        dress();
      },
      () => isCurrent && setMissing(true),
    );
    return () => {
      isCurrent = false;
    };
  }, [locale]);
  if (!dictionary) return isMissing ? <Wordless /> : null;
  return (
    <DictionaryContext value={dictionary}>
      <Session />
    </DictionaryContext>
  );
}

/** Before there are any words: they could not be loaded. */
function Wordless() {
  return (
    <div role="alert" className="panel m-3 max-w-2xl space-y-2 p-4">
      <p lang="en">The console could not be loaded.</p>
      <p lang="ko">콘솔을 불러오지 못했습니다.</p>
      <button type="button" className="button" onClick={() => location.reload()}>
        <span lang="en">Load again</span> · <span lang="ko">다시 불러오기</span>
      </button>
    </div>
  );
}

/** Until the server has said who we are; said only when it takes long. */
function Waits() {
  const t = useT();
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), 800);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p role="status" className="p-4 text-ink-2">
      {isLong ? `${t.live.connecting}…` : null}
    </p>
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
  if (!known) return error ? <ErrorState error={error} retry={() => void load()} /> : <Waits />;
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
