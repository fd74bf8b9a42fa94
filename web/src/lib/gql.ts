import type { TypedDocumentString } from "@/gql/graphql";
import { hear } from "./clock";

/** An answer that is none: what was refused or broke, by its code, with the name that it has in the server's log. */
export class ApiError extends Error {
  readonly code: string;
  readonly requestId: string | undefined;

  constructor(code: string, message: string, requestId?: string) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.requestId = requestId;
  }
}

/** What the server says before it does anything. */
const BEFORE = new Set([
  "UNAUTHENTICATED",
  "FORBIDDEN",
  "BAD_USER_INPUT",
  "NOT_FOUND",
  "QUERY_TOO_COMPLEX",
  "RATE_LIMITED",
]);

/** What stands between says of a request that it has passed on and not waited for. */
const NOT_WAITED_FOR = new Set(["HTTP_408", "HTTP_425", "HTTP_499"]);

/** Whether the error is an answer that nothing was done; otherwise it may have been done all the same. */
export function isAnswered(error: unknown): boolean {
  if (!(error instanceof ApiError) || NOT_WAITED_FOR.has(error.code)) return false;
  return BEFORE.has(error.code) || /^HTTP_4/.test(error.code);
}

interface Wire<T> {
  data?: T | null;
  errors?: { message: string; extensions?: { code?: string; requestId?: string } }[];
}

/** How long an answer may take: longer than the server works on anything. */
const LIMIT_MS = 45_000;

const CONSOLE = { "content-type": "application/json", "x-paydesk-console": "1" };

/** Sends it; no answer in time is none, and what was sent may have been done all the same. */
export async function send(path: string, request: RequestInit, limit = LIMIT_MS): Promise<Response> {
  const signals = [AbortSignal.timeout(limit), ...(request.signal ? [request.signal] : [])];
  try {
    const response = await fetch(path, { ...request, signal: AbortSignal.any(signals) });
    hear(response.headers.get("date"));
    return response;
  } catch (error) {
    if (request.signal?.aborted) throw error;
    throw new ApiError("UNREACHABLE", String(error));
  }
}

/** What an answer says; whatever is between us and the server may answer in its place. */
export async function said<T>(response: Response): Promise<T> {
  try {
    return (await response.json()) as T;
  } catch {
    throw new ApiError("UNREACHABLE", "the answer is not the server's");
  }
}

/** A POST of the console's own: what the session cookie is good for. */
export function post(
  path: string,
  body: unknown,
  more: Record<string, string> = {},
  signal: AbortSignal | null = null,
) {
  return send(path, { method: "POST", headers: { ...CONSOLE, ...more }, body: JSON.stringify(body), signal });
}

/** The error that an answer with a status tells of. */
export async function refusal(response: Response): Promise<ApiError> {
  const requestId = response.headers.get("x-request-id") ?? undefined;
  const wire = (await response.json().catch(() => ({}))) as Wire<never>;
  const error = wire.errors?.[0];
  return new ApiError(
    error?.extensions?.code ?? `HTTP_${response.status}`,
    error?.message ?? response.statusText,
    requestId,
  );
}

/** A query as it is sent: with the name that the build gave it, for servers that take none but ours. */
export function asked<T, V>(document: TypedDocumentString<T, V>): { query: string; documentId: string } {
  return { query: document.toString(), documentId: String(document.__meta__?.hash) };
}

/** Runs a query or a mutation. */
export async function gql<T, V>(document: TypedDocumentString<T, V>, variables: V, signal?: AbortSignal): Promise<T> {
  const response = await post("/graphql", { ...asked(document), variables }, {}, signal);
  if (!response.ok) throw await refusal(response);
  const wire = await said<Wire<T>>(response);
  const error = wire.errors?.[0];
  if (error) {
    const requestId = error.extensions?.requestId ?? response.headers.get("x-request-id") ?? undefined;
    throw new ApiError(error.extensions?.code ?? "INTERNAL", error.message, requestId);
  }
  return wire.data as T;
}
