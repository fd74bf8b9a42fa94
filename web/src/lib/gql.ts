import type { TypedDocumentString } from "@/gql/graphql";

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

interface Wire<T> {
  data?: T | null;
  errors?: { message: string; extensions?: { code?: string; requestId?: string } }[];
}

const CONSOLE = { "content-type": "application/json", "x-paydesk-console": "1" };

/** A POST of the console's own: what the session cookie is good for. */
export async function post(path: string, body: unknown, more: Record<string, string> = {}, signal?: AbortSignal) {
  try {
    return await fetch(path, { method: "POST", headers: { ...CONSOLE, ...more }, body: JSON.stringify(body), signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError("UNREACHABLE", String(error));
  }
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
  const wire = (await response.json()) as Wire<T>;
  const error = wire.errors?.[0];
  if (error) {
    const requestId = error.extensions?.requestId ?? response.headers.get("x-request-id") ?? undefined;
    throw new ApiError(error.extensions?.code ?? "INTERNAL", error.message, requestId);
  }
  return wire.data as T;
}
