import { ApiError, post, refusal, said, send } from "./gql";
import { Store } from "./store";
import { disconnect } from "./ws";

export interface Viewer {
  subject: string;
  name: string | null;
  roles: ("ADMIN" | "OPERATOR" | "SERVICE")[];
  expiresAt: string;
}

/** Who is signed in, and how one can sign in. */
export interface Session {
  viewer: Viewer | null;
  environment: string;
  /** Whether a token can become a session here. */
  sessions: boolean;
  personas: ("admin" | "operator")[];
}

export const session = new Store<Session | undefined>(undefined);

/** Whether a session ended that nobody has ended on purpose. */
export const hasEnded = new Store(false);

/** Who was signed in last and has not signed out: his work stays where it is until he is back. */
export const lastViewer = new Store<Viewer | undefined>(undefined);

/** The session is the browser's: what one tab does to it concerns the others. */
const tabs = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("paydesk.session");

/** Calls back when another tab has signed in or out. */
export function whenOtherTabs(callback: () => void): () => void {
  tabs?.addEventListener("message", callback);
  return () => tabs?.removeEventListener("message", callback);
}

/** Who we are is known at once, or nobody is there. */
const ASK_MS = 10_000;

/** Asks the server who we are. */
export async function loadSession(): Promise<Session> {
  return taken(await send("/auth/me", {}, ASK_MS));
}

export async function signInWithToken(token: string): Promise<Session> {
  const bare = token.trim().replace(/^Bearer\s+/i, "");
  // A header cannot hold anything else, and no token does.
  if (!/^[\x21-\x7e]+$/.test(bare)) throw new ApiError("UNAUTHENTICATED", "a token has ASCII characters alone");
  return signedIn(await post("/auth/session", {}, { authorization: `Bearer ${bare}` }));
}

export async function signInAs(persona: string): Promise<Session> {
  return signedIn(await post("/auth/dev", { persona }));
}

async function signedIn(response: Response): Promise<Session> {
  const found = await taken(response);
  tabs?.postMessage("in");
  return found;
}

export async function signOut(): Promise<void> {
  const response = await post("/auth/logout", {});
  if (!response.ok) throw await refusal(response);
  tabs?.postMessage("out");
  const known = session.get();
  hasEnded.set(false);
  lastViewer.set(undefined);
  if (known) session.set({ ...known, viewer: null });
}

async function taken(response: Response): Promise<Session> {
  if (!response.ok) throw await refusal(response);
  const found = await said<Session>(response);
  if (!Array.isArray(found?.personas)) throw new ApiError("UNREACHABLE", "the answer is not the server's");
  const before = session.get()?.viewer;
  hasEnded.set(found.viewer === null && (hasEnded.get() || Boolean(before)));
  // The connection is that of who opened it.
  if (before && before.subject !== found.viewer?.subject) disconnect();
  if (found.viewer) lastViewer.set(found.viewer);
  session.set(found);
  return found;
}
