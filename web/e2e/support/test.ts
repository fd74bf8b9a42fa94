import { test as base, expect, type Page } from "@playwright/test";
import { Stack } from "./stack";

/** Everything that a page complains of. */
export interface Complaints {
  all: string[];
  /** What a test brings about itself, such as requests to a server that it has ended. */
  expect: (pattern: RegExp) => void;
}

interface Fixtures {
  complaints: Complaints;
  /** Signed in as ADMIN. */
  admin: Page;
  /** Signed in as OPERATOR. */
  operator: Page;
}

export const test = base.extend<Fixtures, { stack: Stack }>({
  stack: [
    // biome-ignore lint/correctness/noEmptyPattern: the library asks for it
    async ({}, use) => {
      const stack = await Stack.start();
      await use(stack);
      await stack.stop();
    },
    { scope: "worker", timeout: 120_000 },
  ],
  baseURL: async ({ stack }, use) => use(stack.url),
  // A page that throws, logs an error or breaks its own policy fails the test, whatever the test is about.
  complaints: [
    async ({ page }, use) => {
      const expected: RegExp[] = [];
      const all: string[] = [];
      page.on("pageerror", (error) => all.push(`page error: ${error.message}`));
      page.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) all.push(`console ${message.type()}: ${message.text()}`);
      });
      await page.addInitScript(() => {
        addEventListener("securitypolicyviolation", (event) => {
          console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
        });
      });
      await use({ all, expect: (pattern) => expected.push(pattern) });
      const left = all.filter((text) => !expected.some((pattern) => pattern.test(text)));
      expect(left, "the page complained").toEqual([]);
    },
    { auto: true },
  ],
  admin: async ({ page }, use) => {
    await signIn(page, "admin");
    await use(page);
  },
  operator: async ({ page }, use) => {
    await signIn(page, "operator");
    await use(page);
  },
});

export { expect };

/** As a developer does: by choosing a persona. */
export async function signIn(page: Page, persona: "admin" | "operator") {
  await page.goto("/");
  await page.getByRole("button", { name: persona === "admin" ? /^(Admin|관리자)/ : /^(Operator|운영자)/ }).click();
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page.locator("[data-live=live]")).toBeVisible();
}

/** A chip with this state. */
export function chip(page: Page, status: string) {
  return page.locator(`header [data-status=${status}]`);
}

/** Saves a promotion's form, and says yes to what it shows. */
export async function save(page: Page) {
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Yes, save it" }).click();
}

/** Carries out an action, with a reason. */
export async function act(page: Page, name: string, reason: string) {
  await page.getByRole("button", { name, exact: true }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText("local")).toBeVisible();
  await dialog.getByLabel("Reason").fill(reason);
  await dialog.getByRole("button", { name, exact: true }).click();
  return dialog;
}
