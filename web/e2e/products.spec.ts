import { act, chip, expect, test } from "./support/test";

test("a product is put on the price list and changed, and what somebody else changed is not written over", async ({
  stack,
  admin: page,
}) => {
  await page.goto("/products");
  await page.getByRole("button", { name: "New product" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("SKU").fill("coin_700");
  await dialog.getByLabel("Can", { exact: true }).fill("700");
  await dialog.getByLabel("Price").fill("1e4");
  await dialog.getByLabel("Title").fill("700 can");
  await dialog.getByLabel("Reason").fill("a larger pack");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog.getByRole("alert")).toContainText("INVALID_INPUT");
  await dialog.getByLabel("Price").fill("70000");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toBeHidden();
  const row = page.getByRole("row").filter({ hasText: "coin_700" });
  await expect(row).toContainText("₩70,000");
  await expect(row.locator("[data-status=ON_SALE]")).toBeVisible();

  await row.getByRole("button", { name: "Change PG coin_700" }).click();
  await dialog.getByLabel("Price").fill("65000");
  await stack.db.query("UPDATE can_product SET title = 'Seven hundred' WHERE sku = 'coin_700'");
  await dialog.getByLabel("Reason").fill("cheaper");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog.getByRole("alert")).toContainText("CHANGED_MEANWHILE");
  await expect(dialog).toContainText("Seven hundred");
  // What was not typed follows what is there by now.
  await expect(dialog.getByLabel("Title")).toHaveValue("Seven hundred");
  await expect(dialog.getByLabel("Price")).toHaveValue("65000");
  await dialog.getByLabel("It can be bought").uncheck();
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toBeHidden();
  await expect(row).toContainText("₩65,000");
  await expect(row.locator("[data-status=OFF_SALE]")).toBeVisible();
  expect(
    await stack.value("SELECT string_agg(reason, ', ' ORDER BY id) FROM audit_entry WHERE action = 'upsertCanProduct'"),
  ).toBe("a larger pack, cheaper");

  // A new one does not write over one that is there.
  await page.getByRole("button", { name: "New product" }).click();
  await dialog.getByLabel("SKU").fill("coin_700");
  await dialog.getByLabel("Reason").fill("again");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByLabel("Can", { exact: true }).fill("1");
  await dialog.getByLabel("Price").fill("1");
  await dialog.getByLabel("Title").fill("a mistake");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog.getByRole("alert")).toContainText("CHANGED_MEANWHILE");
  expect(await stack.value("SELECT price::int FROM can_product WHERE sku = 'coin_700'")).toBe(65_000);
});

test("an operator reads the price list and is told why he may not change it", async ({ operator: page }) => {
  await page.goto("/products");
  const button = page.getByRole("button", { name: "Change PG coin_100" });
  await expect(button).toHaveAttribute("aria-disabled", "true");
  await expect(button).toHaveAttribute("title", /ADMIN/);
  await button.click({ force: true });
  await expect(page.getByRole("dialog")).toBeHidden();
});

test("lists are narrowed by what has few values, and the badge leads to what it counts", async ({
  stack,
  admin: page,
}) => {
  await stack.db.query(`
    INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload, status, last_error_code, dead_lettered_at)
    VALUES ('X', 'X', '1', '', 'x', '{}', 'DEAD_LETTERED', 'UNROUTABLE', now())`);
  await page.goto("/charges");
  await page.getByLabel("Gateway").selectOption("HECTO");
  await expect(page).toHaveURL(/gateway=HECTO/);
  await page.getByLabel("What").selectOption({ label: "Bonus" });
  await expect(page).toHaveURL(/kind=EVENT/);
  await page.reload();
  await expect(page.getByLabel("Gateway")).toHaveValue("HECTO");
  await expect(page.getByText(/Nothing matches .*Bonus.*HECTO/)).toBeVisible();
  await page.getByRole("button", { name: "Clear the filter" }).click();
  await expect(page).not.toHaveURL(/kind|gateway/);
  await page.goto("/refunds?source=OPERATOR");
  await expect(page.getByLabel("Source")).toHaveValue("OPERATOR");
  await page.goto("/charge-jobs?jobType=FIRST_CHARGE");
  await expect(page.getByLabel("For")).toHaveValue("FIRST_CHARGE");
  await page.getByRole("link", { name: /Dead-lettered$/ }).click();
  await expect(page).toHaveURL("/outbox?status=DEAD_LETTERED");
});

test("an address that asks for what a list does not know says so, and how to go on", async ({
  admin: page,
  complaints,
}) => {
  await page.goto("/outbox?status=NOPE,FAILED&from=garbage&cols=nope&stauts=OPEN");
  const told = page.getByRole("alert").filter({ hasText: "status=NOPE, from=garbage, cols=nope, stauts=OPEN" });
  await expect(told).toBeVisible();
  await told.getByRole("button", { name: "Forget it" }).click();
  await expect(page).toHaveURL("/outbox?status=FAILED");
  await expect(told).toBeHidden();
  await page.goto("/payments?after=nonsense");
  await expect(page.getByRole("alert")).toContainText("BAD_USER_INPUT");
  await page.getByRole("button", { name: "Newest" }).click();
  await expect(page).toHaveURL("/payments");
  await expect(page.getByRole("alert")).toBeHidden();
  await page.goto("/payments?userId=987654");
  await page.getByRole("link", { name: "look in the refunds" }).click();
  await expect(page).toHaveURL("/refunds?userId=987654");
  complaints.expect(/400/);
});

test("what stands between us and the server, or a page whose code is gone, is told plainly", async ({
  admin: page,
  complaints,
}) => {
  complaints.expect(/./);
  await page.route("**/auth/me", (route) => route.fulfill({ contentType: "text/html", body: "<h1>a proxy</h1>" }));
  await page.goto("/settings");
  await expect(page.getByRole("alert")).toContainText("The server cannot be reached.");
  await page.unroute("**/auth/me");
  await page.getByRole("button", { name: "Retry" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Settings" })).toBeVisible();
  // The console was renewed, and what this page was made of is gone.
  await page.route(/\/assets\/products-[^/]*\.js/, (route) => route.fulfill({ status: 404, body: "" }));
  await page.goto("/products");
  await expect(page.getByRole("alert")).toContainText("This page could not be shown");
  await page.unroute(/\/assets\/products-[^/]*\.js/);
  await page.getByRole("button", { name: "Load again" }).click();
  await expect(page.getByRole("heading", { name: "Price list" })).toBeVisible();
});

test("one's own action is followed although the page is paused", async ({ stack, admin: page }) => {
  // Nobody has to listen to a refund's event.
  const id = await stack.value(
    `INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload, status, last_error_code, next_retry_at)
     VALUES ('PAYMENT_REFUNDED', 'X', '1', $1, 'nobody.listens', '{}', 'FAILED', 'NACKED', now() + interval '1 day') RETURNING id`,
    [`${stack.prefix}payment.events`],
  );
  await page.goto(`/outbox/${id}`);
  await expect(chip(page, "FAILED")).toBeVisible();
  await page.keyboard.press("p");
  await expect(page.locator("[data-live=paused]")).toBeVisible();
  const dialog = await act(page, "Requeue", "a test");
  await expect(dialog).toBeHidden();
  await expect(chip(page, "PUBLISHED")).toBeVisible({ timeout: 15_000 });
});

test("while nobody answers who is signed in the page says so, and the words' absence is told in both languages", async ({
  page,
  complaints,
}) => {
  complaints.expect(/./);
  await page.route("**/auth/me", () => {});
  await page.goto("/");
  await expect(page.getByRole("status")).toContainText("Connecting…");
  await page.unroute("**/auth/me");
  await page.route(/\/assets\/en-[^/]*\.js/, (route) => route.fulfill({ status: 404, body: "" }));
  await page.goto("/");
  await expect(page.getByRole("alert")).toContainText("The console could not be loaded.");
  await expect(page.getByRole("alert")).toContainText("콘솔을 불러오지 못했습니다.");
});
