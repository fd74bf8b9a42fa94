import { KeyRound, LogIn } from "lucide-react";
import { type FormEvent, useEffect, useId, useState } from "react";
import { useT } from "@/i18n";
import { ApiError } from "@/lib/gql";
import { type Session, signInAs, signInWithToken } from "@/lib/session";
import { changeSettings, useSettings } from "@/lib/settings";
import { EnvironmentBar } from "@/ui/EnvironmentBar";
import { ErrorText } from "@/ui/Messages";

/** Shown wherever nobody is signed in; afterwards one is where one wanted to be. */
export function SignInPage({ session, hasEnded }: { session: Session; hasEnded: boolean }) {
  const t = useT();
  const { locale } = useSettings();
  const [token, setToken] = useState("");
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const ids = { token: useId(), hint: useId() };
  useEffect(() => {
    document.title = `${t.session.signIn} · Paydesk`;
  }, [t]);
  const attempt = async (signIn: () => Promise<unknown>) => {
    setBusy(true);
    setError(undefined);
    try {
      await signIn();
    } catch (failed) {
      setError(failed);
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (token.trim() !== "" && !isBusy) void attempt(() => signInWithToken(token));
  };
  const code = error instanceof ApiError ? error.code : undefined;
  return (
    <div className="flex h-dvh flex-col bg-ground-2">
      <EnvironmentBar environment={session.environment} />
      <main className="flex flex-1 items-center justify-center p-4">
        <div className="w-[400px] max-w-full space-y-3">
          <h1 className="text-xl">{t.session.title}</h1>
          {hasEnded ? <p className="rounded-md bg-warn-ground p-2 text-warn">{t.session.ended}</p> : null}
          {session.personas.length > 0 ? (
            <section className="panel">
              <h2>{t.session.persona}</h2>
              <div className="space-y-2 p-3">
                {session.personas.map((persona) => (
                  <button
                    key={persona}
                    type="button"
                    className="button w-full"
                    aria-disabled={isBusy}
                    onClick={() => void attempt(() => signInAs(persona))}
                  >
                    <LogIn size={13} aria-hidden="true" />
                    {t.session[persona]}
                  </button>
                ))}
              </div>
            </section>
          ) : null}
          {session.sessions ? (
            <form className="panel" onSubmit={submit}>
              <div className="space-y-2 p-3">
                <label htmlFor={ids.token} className="font-medium">
                  {t.session.token}
                </label>
                <input
                  id={ids.token}
                  className="field mono block w-full"
                  type="password"
                  autoComplete="off"
                  spellCheck={false}
                  value={token}
                  aria-describedby={ids.hint}
                  onChange={(event) => setToken(event.target.value)}
                />
                <p id={ids.hint} className="text-xs text-ink-2">
                  {t.session.tokenHint}
                </p>
                <button
                  type="submit"
                  className="button w-full"
                  data-kind="primary"
                  aria-disabled={isBusy || token.trim() === ""}
                >
                  <KeyRound size={13} aria-hidden="true" />
                  {t.session.withToken}
                </button>
              </div>
            </form>
          ) : (
            <p className="panel p-3">{t.session.noSessions}</p>
          )}
          {error ? (
            <div role="alert" className="rounded-md bg-bad-ground p-2 text-bad">
              {code === "UNAUTHENTICATED" ? (
                t.session.refused
              ) : code === "FORBIDDEN" ? (
                t.session.noRole
              ) : (
                <ErrorText error={error} />
              )}
            </div>
          ) : null}
          <p className="text-center">
            <button
              type="button"
              className="button"
              data-kind="quiet"
              lang={locale === "ko" ? "en" : "ko"}
              onClick={() => changeSettings({ locale: locale === "ko" ? "en" : "ko" })}
            >
              {locale === "ko" ? "English" : "한국어"}
            </button>
          </p>
        </div>
      </main>
    </div>
  );
}
