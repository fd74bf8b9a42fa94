import { expect, signIn, test } from "./support/test";

test("what is cut says all of it, and a long type leaves the other columns in sight", async ({
  stack,
  admin: page,
}) => {
  const type = "PARTICIPANT_SEAT_RESERVATION_CONFIRMATION_WAS_WITHDRAWN_BY_THE_ORGANISER";
  await stack.db.query(
    `INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload)
     VALUES ($1, 'MEETING', '1', $2, 'x.y', '{}')`,
    [type, `${stack.prefix}payment.events`],
  );
  await page.goto("/outbox");
  const cell = page.getByRole("cell", { name: type });
  await cell.hover({ force: true });
  await expect(page.locator(`a[data-row][title="${type}"]`)).toBeVisible();
  const last = await page.getByRole("columnheader", { name: "Created" }).boundingBox();
  expect((last?.x ?? 9_999) + (last?.width ?? 0)).toBeLessThanOrEqual(1280);
});

test("another page begins at its top, and back from a row the reader is where he was", async ({
  stack,
  admin: page,
}) => {
  await stack.db.query(
    `INSERT INTO payment (order_id, user_id, meeting_id, order_name, amount, status, payment_key, idempotency_key, completed_at)
     SELECT 'place-' || n, 779, 7000000 + n, 'Place', 1000, 'COMPLETED', 'place-' || n, 'place-' || n, now() FROM generate_series(1, 120) n`,
  );
  await page.goto("/payments?userId=779");
  const rows = page.locator("a[data-row]");
  await expect(rows).toHaveCount(50);
  const box = page.locator("main div.overflow-auto");
  const top = () => box.evaluate((element) => element.scrollTop);
  await rows.nth(35).scrollIntoViewIfNeeded();
  const before = await top();
  expect(before).toBeGreaterThan(100);
  const row = await rows.nth(35).getAttribute("data-row");
  await rows.nth(35).click();
  await expect(page).toHaveURL(`/payments/${row}`);
  await page.goBack();
  await expect(page.locator(`a[data-row="${row}"]`)).toBeFocused();
  expect(Math.abs((await top()) - before)).toBeLessThan(5);
  await page.getByRole("link", { name: "Older" }).click();
  await expect(page).toHaveURL(/after=/);
  await expect(rows.first()).not.toHaveAttribute("data-row", row ?? "");
  await expect.poll(top).toBe(0);
});

test("at twice the size everything can still be reached", async ({ admin: page }) => {
  await page.setViewportSize({ width: 640, height: 360 });
  await page.getByRole("button", { name: "Sign out" }).scrollIntoViewIfNeeded();
  await expect(page.getByRole("button", { name: "Sign out" })).toBeInViewport({ ratio: 1 });
  await page.keyboard.press("?");
  await page.getByRole("button", { name: "Close" }).scrollIntoViewIfNeeded();
  await expect(page.getByRole("button", { name: "Close" })).toBeInViewport({ ratio: 1 });
});

test("where no websocket can be had the overview is asked for, and says so", async ({ page, complaints }) => {
  complaints.expect(/WebSocket/);
  await signIn(page, "admin");
  await page.routeWebSocket("**/graphql/ws", (socket) => socket.close({ code: 1011 }));
  await page.goto("/");
  await expect(page.getByText("no live connection: asked for every 5 s")).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText("Connected", { exact: true })).toBeVisible();
  await expect(page.getByText("the connection ended", { exact: true })).toBeHidden();
});

test("a server that is gone takes no page along that was not opened yet", async ({
  admin: page,
  context,
  complaints,
}) => {
  complaints.expect(/ERR_INTERNET_DISCONNECTED|WebSocket|Failed to fetch/);
  const loaded = new Set<string>();
  page.on("response", (response) => loaded.add(response.url()));
  await page.reload();
  await expect.poll(() => [...loaded].some((url) => /promotions|edit|Form/i.test(url)), { timeout: 20_000 }).toBe(true);
  await page.waitForLoadState("networkidle");
  await context.setOffline(true);
  await page.getByRole("link", { name: "Promotions" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Promotions" })).toBeVisible();
  await context.setOffline(false);
});
