import { type Client, createClient } from "graphql-ws";
import type { TypedDocumentString } from "@/gql/graphql";
import { ApiError, asked } from "./gql";
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
}

/** What the server says no to, now and later. */
const FOR_GOOD = new Set(["FORBIDDEN", "BAD_USER_INPUT", "NOT_FOUND", "UNAUTHENTICATED", "QUERY_TOO_COMPLEX"]);

/**
 * Subscribes until the returned function is called, over as many connections as it takes, and again when the server
 * could not go on. `variables` are read anew each time, so that a getter among them can tell where to go on.
 */
export function watch<T, V extends Record<string, unknown>>(
  document: TypedDocumentString<T, V>,
  variables: V,
  on: Watch<T>,
): () => void {
  let stop = () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let isOver = false;
  const failed = (error: ApiError) => {
    if (isOver) return;
    on.error?.(error);
    if (FOR_GOOD.has(error.code) || connection.get() === "refused") return;
    stop();
    failures += 1;
    clearTimeout(timer);
    timer = setTimeout(open, Math.min(500 * 2 ** failures, 30_000));
  };
  const open = () => {
    stop = socket().subscribe<T>(
      { ...asked(document), variables },
      {
        next: ({ data, errors }) => {
          if (isOver) return;
          if (errors?.[0]) failed(toError(errors[0]));
          else if (data) {
            failures = 0;
            on.next(data);
          }
        },
        error: (error) => failed(toError(Array.isArray(error) ? error[0] : error)),
        complete: () => {},
      },
    );
  };
  open();
  return () => {
    isOver = true;
    clearTimeout(timer);
    stop();
  };
}

function toError(error: unknown): ApiError {
  const { message, extensions } = (error ?? {}) as {
    message?: string;
    extensions?: { code?: string; requestId?: string };
  };
  return new ApiError(extensions?.code ?? "DISCONNECTED", message ?? "the connection ended", extensions?.requestId);
}
