import { defineConfig } from "@playwright/test";

/** Debian's Chromium, or the one that is named. */
const executablePath = process.env.PAYDESK_CHROMIUM ?? "/usr/bin/chromium";
const isRoot = process.getuid?.() === 0;

export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results",
  // One browser and one server at a time: they share the machine with everything else.
  workers: 1,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  forbidOnly: true,
  retries: 0,
  reporter: [["line"], ["./e2e/support/reporter.ts"]],
  use: {
    viewport: { width: 1280, height: 800 },
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    colorScheme: "light",
    trace: "retain-on-failure",
    launchOptions: { executablePath, args: isRoot ? ["--no-sandbox"] : [] },
  },
});
