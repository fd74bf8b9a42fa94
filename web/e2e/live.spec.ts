import type { Page } from "@playwright/test";
import { expect, test } from "./support/test";

test.beforeEach(async ({ stack }) => stack.settled());

/** What the feed shows, newest first, as far as it is drawn. */
async function codes(page: Page): Promise<string[]> {
  return page.locator("[data-failure]").evaluateAll((rows) => rows.map((row) => row.textContent ?? ""));
}

test("the feed does not move while somebody is in it, or has paused it", async ({ stack, admin: page }) => {
  await stack.fail(3, "BEFORE");
  await expect(page.locator("[data-failure]").first()).toContainText("BEFORE");
  await page.locator("[data-feed]").hover();
  await stack.fail(2, "WHILE_POINTED_AT");
  const bar = page.getByRole("button", { name: "2 new – show" });
  await expect(bar).toBeVisible();
  await expect(page.locator("[data-failure]").first()).toContainText("BEFORE");
  await bar.click();
  await expect(page.locator("[data-failure]").first()).toContainText("WHILE_POINTED_AT");
  await page.mouse.move(300, 30);
  await page.getByRole("button", { name: "Pause" }).click();
  await stack.fail(4, "WHILE_PAUSED");
  await expect(page.getByRole("button", { name: "4 new – show" })).toBeVisible();
  await expect(page.locator("[data-failure]").first()).toContainText("WHILE_POINTED_AT");
  await page.getByRole("button", { name: "Resume" }).click();
  await expect(page.locator("[data-failure]").first()).toContainText("WHILE_PAUSED");
});

test("a websocket that is cut comes back, and the feed goes on without a gap", async ({
  stack,
  admin: page,
  complaints,
}) => {
  complaints.expect(/WebSocket/);
  await stack.fail(1, "FIRST");
  await expect(page.locator("[data-failure]").first()).toContainText("FIRST");
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", {
    offline: true,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
  await page.evaluate(() => window.dispatchEvent(new Event("offline")));
  // Chromium leaves open sockets alone when it goes offline: the server ends this one.
  await stack.db.query("SELECT pg_notify('paydesk_failure', '')");
  await stack.restart(async () => {
    await stack.fail(5, "WHILE_CUT_OFF");
  });
  await expect(page.locator("[data-live=reconnecting]")).toBeVisible();
  await stack.fail(5, "STILL_CUT_OFF");
  await session.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
  await expect(page.locator("[data-live=live]")).toBeVisible({ timeout: 30_000 });
  await expect(page.locator("[data-failure]").first()).toContainText("STILL_CUT_OFF");
  await stack.fail(1, "AFTER");
  await expect(page.locator("[data-failure]").first()).toContainText("AFTER");
  const seen = (await codes(page)).join("\n");
  const count = (code: string) => seen.split(code).length - 1;
  expect([count("AFTER"), count("STILL_CUT_OFF"), count("WHILE_CUT_OFF"), count("FIRST")]).toEqual([1, 5, 5, 1]);
});

test("the server restarts, and the page is live again by itself, with the row as it is by then", async ({
  stack,
  admin: page,
  complaints,
}) => {
  complaints.expect(/WebSocket|ERR_CONNECTION_REFUSED|Failed to fetch/);
  const payment = await stack.pay();
  await page.goto(`/payments/${payment}`);
  await expect(page.locator("[data-live=live]")).toBeVisible();
  await stack.restart(async () => {
    await stack.db.query("UPDATE payment SET order_name = 'Renamed while nobody listened' WHERE id = $1", [payment]);
  });
  await expect(page.locator("[data-live=live]")).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText("Renamed while nobody listened")).toBeVisible();
});

for (const rate of [50, 500]) {
  test(`${rate} failures a second are shown without a long task`, async ({ stack, admin: page }, info) => {
    await stack.fail(1, "START");
    await expect(page.locator("[data-failure]").first()).toContainText("START");
    await page.mouse.move(300, 30);
    await page.evaluate(() => {
      const found = { tasks: [] as number[], frames: [] as number[] };
      Object.assign(window, { found });
      new PerformanceObserver((list) => found.tasks.push(...list.getEntries().map(({ duration }) => duration))).observe(
        { entryTypes: ["longtask"] },
      );
      let last = performance.now();
      const frame = (now: number) => {
        found.frames.push(now - last);
        last = now;
        requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    });
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    const busy = async () =>
      (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0;
    const [started, before] = [Date.now(), await busy()];
    const seconds = 6;
    for (let tick = 0; tick < seconds * 10; tick += 1) {
      const due = started + tick * 100;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - Date.now())));
      await stack.fail(rate / 10, `AT_${rate}`);
    }
    await stack.fail(1, "END");
    await expect(page.locator("[data-failure]").first()).toContainText("END");
    const share = (await busy()) - before;
    const found = await page.evaluate(
      () => (window as unknown as { found: { tasks: number[]; frames: number[] } }).found,
    );
    const frames = found.frames.sort((a, b) => a - b);
    const p95 = frames[Math.floor(frames.length * 0.95)] ?? 0;
    const told = `long tasks ${found.tasks.length}, p95 frame ${p95.toFixed(1)} ms, main thread ${((share / ((Date.now() - started) / 1_000)) * 100).toFixed(0)} %`;
    info.annotations.push({ type: "measured", description: told });
    console.log(`\n${rate}/s: ${told}`);
    expect(found.tasks).toEqual([]);
  });
}
