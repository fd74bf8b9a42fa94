import { type Client, createClient } from "graphql-ws";
import type { TypedDocumentString } from "@/gql/graphql";
import { ApiError } from "./gql";
import { Store } from "./store";

/** How the websocket stands: `idle` while nothing is watched. */
export type Connection = "idle" | "connecting" | "live" | "reconnecting" | "refused";

export const connection = new Store<Connection>("idle");

/** Closed because the session has ended, or never was. */
const FORBIDDEN = 4403;

let client: Client | undefined;
let onRefused = () => {};

/** Called when the server does not know us any more. */
export function whenRefused(callback: () => void) {
  onRefused = callback;
}

function socket(): Client {
  client ??= createClient({
    url: `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/graphql/ws`,
    lazy: true,
    lazyCloseTimeout: 5_000,
    keepAlive: 10_000,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => connection.get() !== "refused",
    retryWait: (retries) =>
      new Promise((resolve) => setTimeout(resolve, Math.min(250 * 2 ** retries, 5_000) * (0.5 + Math.random() / 2))),
    on: {
      connecting: (isRetry) => connection.set(isRetry ? "reconnecting" : "connecting"),
      connected: () => connection.set("live"),
      closed: (event) => {
        const { code, wasClean } = event as CloseEvent;
        if (code === FORBIDDEN) {
          connection.set("refused");
          // Once the client has done with the close.
          setTimeout(onRefused);
        } else connection.set(wasClean && code === 1000 ? "idle" : "reconnecting");
      },
    },
  });
  return client;
}

/** Ends the connection: whoever signs in next gets one of his own. */
export function disconnect() {
  void client?.dispose();
  client = undefined;
  connection.set("idle");
}

interface Watch<T> {
  next: (data: T) => void;
  error?: (error: ApiError) => void;
  complete?: () => void;
}

/**
 * Subscribes until the returned function is called, over as many connections as it takes. `variables` are read anew for
 * each of them, so that a getter among them can tell where to go on.
 */
export function watch<T, V extends Record<string, unknown>>(
  document: TypedDocumentString<T, V>,
  variables: V,
  on: Watch<T>,
): () => void {
  return socket().subscribe<T>(
    { query: document.toString(), variables },
    {
      next: ({ data, errors }) => {
        const error = errors?.[0];
        if (error) on.error?.(toError(error));
        else if (data) on.next(data);
      },
      error: (error) => on.error?.(toError(Array.isArray(error) ? error[0] : error)),
      complete: () => on.complete?.(),
    },
  );
}

function toError(error: unknown): ApiError {
  const { message, extensions } = (error ?? {}) as {
    message?: string;
    extensions?: { code?: string; requestId?: string };
  };
  return new ApiError(extensions?.code ?? "DISCONNECTED", message ?? "the connection ended", extensions?.requestId);
}
