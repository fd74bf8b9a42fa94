import { ApiError, post, refusal } from "./gql";
import { Store } from "./store";

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

/** Asks the server who we are. */
export async function loadSession(): Promise<Session> {
  let response: Response;
  try {
    response = await fetch("/auth/me");
  } catch (error) {
    throw new ApiError("UNREACHABLE", String(error));
  }
  return taken(response);
}

export async function signInWithToken(token: string): Promise<Session> {
  return taken(await post("/auth/session", {}, { authorization: `Bearer ${token.trim()}` }));
}

export async function signInAs(persona: string): Promise<Session> {
  return taken(await post("/auth/dev", { persona }));
}

export async function signOut(): Promise<void> {
  const response = await post("/auth/logout", {});
  if (!response.ok) throw await refusal(response);
  const known = session.get();
  hasEnded.set(false);
  if (known) session.set({ ...known, viewer: null });
}

async function taken(response: Response): Promise<Session> {
  if (!response.ok) throw await refusal(response);
  const found = (await response.json()) as Session;
  hasEnded.set(found.viewer === null && (hasEnded.get() || Boolean(session.get()?.viewer)));
  session.set(found);
  return found;
}
