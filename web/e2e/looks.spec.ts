import { readdirSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { Page } from "@playwright/test";
import { expect, signIn, test } from "./support/test";

const AXE = readFileSync(fileURLToPath(new URL("../node_modules/axe-core/axe.min.js", import.meta.url)), "utf8");
const DIST = fileURLToPath(new URL("../dist/console/", import.meta.url));
const PICTURES = fileURLToPath(new URL("../screenshots/", import.meta.url));
const SHOTS = fileURLToPath(new URL("../test-results/screenshots/", import.meta.url));

/** What axe finds, in words. */
async function findings(page: Page): Promise<string[]> {
  // Into its own world: the page's policy lets nobody evaluate a text.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: { run: () => Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
    );
  });
}

/** Words that do not fit: names of things and errors are never cut. */
async function cut(page: Page): Promise<string[]> {
  return page
    .locator("nav a > span, .button, h1, h2, th, dt, dd span, label, td.wrap, [data-feed] a")
    .evaluateAll((all) =>
      all
        .filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1 && !one.matches(".sr-only"))
        .map((one) => one.textContent ?? ""),
    );
}

test.describe("pages", () => {
  let paths: [string, string][] = [];

  test.beforeAll(async ({ stack }) => {
    const listener = await stack.listen("payment.completed");
    for (let n = 0; n < 30; n += 1)
      await stack.pay({
        amount: 9_000 + n * 1_300,
        orderName: ["Wine tasting", "Hike to Bukhansan", "Book club", "Pottery class"][n % 4] ?? "",
      });
    for (let n = 0; n < 5; n += 1) await stack.pay({ card: "4000000000000002", orderName: "Board games" });
    await stack.pay({ card: "4000000000000119", orderName: "Cooking class" });
    await stack.provider({ operation: "cancel", times: 1, status: 403, code: "NOT_CANCELABLE_PAYMENT" });
    for (let n = 0; n < 6; n += 1) {
      const paymentId = await stack.pay();
      await stack.gql(
        "mutation ($input: RefundPaymentInput!) { refundPayment(input: $input) { replayed } }",
        { input: { idempotencyKey: `looks-${n}`, paymentId, reason: "The meeting was moved" } },
        await stack.sign("ADMIN", "alice"),
      );
    }
    stack.send("participant.cancel", '{"eventId": "not a uuid", "data": {}}');
    await expect
      .poll(() => stack.value("SELECT count(*)::int FROM inbound_dead_letter WHERE status = 'OPEN'"))
      .toBeGreaterThan(0);
    await expect
      .poll(() => stack.value("SELECT count(*)::int FROM payment_outbox WHERE status = 'DEAD_LETTERED'"), {
        timeout: 20_000,
      })
      .toBeGreaterThan(0);
    await listener.end();
    const member = await stack.member("Jimin");
    for (let n = 0; n < 3; n += 1) await stack.buy(member);
    await stack.gql(
      "mutation ($input: ChargeEventInput!) { createChargeEvent(input: $input) { userErrors { code } } }",
      {
        input: {
          title: "Spring festival",
          startAt: "2026-01-01T00:00:00Z",
          endAt: "2036-01-01T00:00:00Z",
          addPercent: 10,
          availableCount: 0,
          isActive: true,
        },
      },
      await stack.sign("ADMIN", "alice"),
    );
    for (let n = 0; n < 2; n += 1) await stack.buy(member);
    const one = (sql: string) => stack.value<string>(sql);
    paths = [
      ["overview", "/"],
      ["payments", "/payments"],
      [
        "payment",
        `/payments/${await one("SELECT payment_id FROM refund WHERE status = 'FAILED' ORDER BY id DESC LIMIT 1")}`,
      ],
      ["refunds", "/refunds"],
      ["refund", `/refunds/${await one("SELECT id FROM refund WHERE status = 'FAILED' ORDER BY id DESC LIMIT 1")}`],
      ["outbox", "/outbox"],
      [
        "event",
        `/outbox/${await one("SELECT id FROM payment_outbox WHERE status = 'DEAD_LETTERED' AND aggregate_type = 'PAYMENT' ORDER BY id DESC LIMIT 1")}`,
      ],
      ["dead-letters", "/dead-letters"],
      [
        "dead-letter",
        `/dead-letters/${await one("SELECT id FROM inbound_dead_letter WHERE status = 'OPEN' ORDER BY id DESC LIMIT 1")}`,
      ],
      ["charges", "/charges"],
      ["charge", `/charges/${await one("SELECT max(source_charge_id) FROM charge_event_job")}`],
      ["charge-jobs", "/charge-jobs?status=DONE"],
      ["charge-job", `/charge-jobs/${await one("SELECT max(id) FROM charge_event_job")}`],
      ["promotions", "/promotions"],
      ["promotion", `/promotions/${await one("SELECT max(id) FROM charge_event")}`],
      ["new-promotion", "/promotions/new"],
      ["products", "/products"],
      ["members", "/members"],
      ["member", `/members/${member}`],
      ["settings", "/settings"],
      ["empty", "/payments?userId=1&status=FAILED"],
    ];
  });

  for (const locale of ["ko", "en"] as const) {
    for (const theme of ["light", "dark"] as const) {
      test(`axe finds nothing on any page in ${locale}, ${theme}, and nothing is cut`, async ({ page }) => {
        test.setTimeout(180_000);
        await page.addInitScript(
          ([locale, theme]) => localStorage.setItem("paydesk.settings", JSON.stringify({ locale, theme })),
          [locale, theme] as const,
        );
        await page.goto("/");
        await expect(page.getByRole("button", { name: /^(Admin|관리자)/ })).toBeVisible();
        expect(await findings(page), "sign-in").toEqual([]);
        await signIn(page, "admin");
        for (const [name, path] of paths) {
          await page.goto(path);
          await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
          await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
          await expect(
            page
              .locator("[data-live=live]")
              .or(page.getByRole("radiogroup").first())
              .or(page.locator("form").first())
              .first(),
          ).toBeVisible();
          expect(await findings(page), `${name} in ${locale}, ${theme}`).toEqual([]);
          const wide = await page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          );
          expect(wide, `${name} scrolls sideways`).toBeLessThanOrEqual(0);
          expect(await cut(page), `${name} in ${locale}`).toEqual([]);
          if ((locale === "ko") === (theme === "dark"))
            await page.screenshot({ path: `${SHOTS}${name}-${locale}-${theme}.png` });
        }
        await page.goto(paths[2]?.[1] ?? "/");
        await page.getByRole("button", { name: /^(Refund|환불)$/ }).click();
        await expect(page.getByRole("dialog")).toBeVisible();
        expect(await findings(page), "confirmation").toEqual([]);
      });
    }
  }
});

test("what a browser has to load stays within its budget", () => {
  const manifest = JSON.parse(readFileSync(`${DIST}.vite/manifest.json`, "utf8")) as Record<
    string,
    { file: string; imports?: string[]; css?: string[]; isEntry?: boolean; isDynamicEntry?: boolean }
  >;
  const size = (path: string) => gzipSync(readFileSync(`${DIST}${path}`), { level: 9 }).length / 1_000;
  const closure = (key: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(key)) return seen;
    seen.add(key);
    for (const next of manifest[key]?.imports ?? []) closure(next, seen);
    return seen;
  };
  const js = (keys: Iterable<string>) => [...keys].reduce((sum, key) => sum + size(manifest[key]?.file ?? ""), 0);
  const entry = Object.keys(manifest).find((key) => manifest[key]?.isEntry) ?? "";
  const shell = closure(entry);
  const told: string[] = [];
  const routes = Object.keys(manifest).filter((key) => key.includes("routes/") && manifest[key]?.isDynamicEntry);
  expect(routes.length).toBeGreaterThan(8);
  const dictionary = size(manifest["src/i18n/ko.ts"]?.file ?? "");
  for (const route of routes) {
    const own = [...closure(route)].filter((key) => !shell.has(key));
    const kilobytes = js(own);
    told.push(`${route}: ${kilobytes.toFixed(1)}`);
    expect(kilobytes, route).toBeLessThanOrEqual(60);
    expect(js(shell) + dictionary + kilobytes, `first load of ${route}`).toBeLessThanOrEqual(220);
  }
  expect(js(shell), "shell").toBeLessThanOrEqual(140);
  const css = readdirSync(`${DIST}assets`).filter((name) => name.endsWith(".css"));
  const styles = css.reduce((sum, name) => sum + size(`assets/${name}`), 0);
  expect(styles, "styles").toBeLessThanOrEqual(15);
  console.log(`\nkB gzip: shell ${js(shell).toFixed(1)}, styles ${styles.toFixed(1)}; ${told.join(", ")}`);
});

test("the pictures of the README are there and small", () => {
  for (const name of ["overview-en-light.png", "event-en-light.png", "payments-ko-dark.png"])
    expect(statSync(`${PICTURES}${name}`).size).toBeLessThan(300_000);
});
