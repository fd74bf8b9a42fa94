import { createFileRoute, Navigate } from "@tanstack/react-router";

/** Whoever is not signed in is asked to on every page; whoever is has nothing to do here. */
export const Route = createFileRoute("/sign-in")({ component: () => <Navigate to="/" replace /> });
