import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createRouter, RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./lib/gql";
import { lastViewer, loadSession } from "./lib/session";
import { dress } from "./lib/settings";
import { routeTree } from "./routeTree.gen";
import "./styles/index.css";
import { Broken } from "./ui/Broken";

/** The server does not know us any more: what it knows of us instead is shown. */
const onError = (error: unknown) => {
  if (error instanceof ApiError && error.code === "UNAUTHENTICATED") void loadSession().catch(() => {});
};

const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 1_000,
      // What the server refused stays refused; a server that cannot be reached may come back.
      // One that did not answer in time was waited for long enough.
      retry: (count, error) =>
        error instanceof ApiError &&
        error.code === "UNREACHABLE" &&
        !error.message.includes("TimeoutError") &&
        count < 2,
      retryDelay: 500,
      networkMode: "always",
    },
    mutations: { retry: false, networkMode: "always" },
  },
});

// What one person was shown, and might do, is nothing for the next.
let owner = lastViewer.get();
lastViewer.subscribe(() => {
  const viewer = lastViewer.get();
  if (viewer?.subject !== owner?.subject || viewer?.roles.join() !== owner?.roles.join()) queryClient.clear();
  owner = viewer;
});

const router = createRouter({
  routeTree,
  defaultPreload: "intent",
  defaultPreloadStaleTime: 0,
  scrollRestoration: false,
  defaultErrorComponent: Broken,
  // Texts alone: short, readable, and no id is ever taken for a number.
  parseSearch: (text) => {
    const given = new URLSearchParams(text);
    return Object.fromEntries([...new Set(given.keys())].map((name) => [name, given.getAll(name).join(",")]));
  },
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string" && entry[1] !== "",
    );
    const text = new URLSearchParams(given)
      .toString()
      .replaceAll("%2C", ",")
      .replaceAll("%3A", ":")
      .replaceAll("%2F", "/");
    return text ? `?${text}` : "";
  },
});

/** The rest of the console, while nobody waits: a page must not be missing when the server is. */
addEventListener("load", () => {
  setTimeout(() => {
    for (const route of Object.values(router.routesById)) void router.loadRouteChunk(route)?.catch(() => {});
  }, 4_000);
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

dress();
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
