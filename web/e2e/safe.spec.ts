import type { Page } from "@playwright/test";
import type { Stack } from "./support/stack";
import { act, chip, expect, save, signIn, test } from "./support/test";

/** A promotion, by SQL; its id. */
function promotion(stack: Stack, title: string): Promise<string> {
  return stack.value(
    `INSERT INTO charge_event (title, start_at, end_at, add_percent, available_count, is_active)
     VALUES ($1, '2026-01-01T00:00:00+09:00', '2036-12-31T23:59:59+09:00', 10, 0, true) RETURNING id`,
    [title],
  );
}

const moments = (stack: Stack, id: string) =>
  stack.value<string>(
    "SELECT concat_ws(' ', start_at AT TIME ZONE 'UTC', end_at AT TIME ZONE 'UTC') FROM charge_event WHERE id = $1",
    [id],
  );

const made = (stack: Stack, title: string) =>
  stack.value<number>("SELECT count(*)::int FROM charge_event WHERE title = $1", [title]);

async function fillPromotion(page: Page, title: string) {
  await page.goto("/promotions/new");
  await page.getByLabel("Title").fill(title);
  await page.getByLabel("Begins").fill("2026-01-01T00:00");
  await page.getByLabel("Ends").fill("2036-01-01T00:00");
  await page.getByLabel("Bonus (%)").fill("10");
  await page.getByLabel("Reason").fill("a campaign");
}

/** Lets the mutation reach the server, and loses its answer; once. */
async function loseAnswer(page: Page, mutation: string) {
  let lost = false;
  await page.route("**/graphql", async (route) => {
    if (lost || !route.request().postData()?.includes(mutation)) return route.fallback();
    lost = true;
    await route.fetch();
    await route.abort();
  });
}

test("another zone and another title leave a promotion's moments what they were", async ({ stack, admin: page }) => {
  const id = await promotion(stack, "To the last second");
  const before = await moments(stack, id);
  await page.goto(`/promotions/${id}`);
  await expect(page.getByLabel("Ends")).toHaveValue("2036-12-31T23:59:59");
  await page.getByLabel("Time zone").selectOption("UTC");
  await expect(page.getByLabel("Ends")).toHaveValue("2036-12-31T14:59:59");
  await page.getByLabel("Title").fill("Renamed");
  await page.getByLabel("Reason").fill("a better name");
  await save(page);
  await expect(page.getByText("The promotion is saved.")).toBeVisible();
  expect(await moments(stack, id)).toBe(before);
  expect(
    await stack.value("SELECT reason FROM audit_entry WHERE target_id = $1 AND action = 'updateChargeEvent'", [id]),
  ).toBe("a better name");
});

test("two clicks make one promotion, and so does another try after a lost answer", async ({
  stack,
  admin: page,
  complaints,
}) => {
  await fillPromotion(page, "Clicked twice");
  await page.getByRole("button", { name: "Save", exact: true }).dblclick();
  await page.getByRole("button", { name: "Yes, save it" }).dblclick();
  await expect(page).toHaveURL(/\/promotions\/\d+$/);
  expect(await made(stack, "Clicked twice")).toBe(1);

  complaints.expect(/ERR_FAILED/);
  await fillPromotion(page, "Answer lost");
  await loseAnswer(page, "CreatePromotion");
  await save(page);
  await expect(page.getByText("It is not known whether it was made.")).toBeVisible();
  await save(page);
  await expect(page.getByText("What you sent before was made")).toBeVisible();
  await page.getByRole("link", { name: /Answer lost/ }).click();
  await expect(page).toHaveURL(/\/promotions\/\d+$/);
  expect(await made(stack, "Answer lost")).toBe(1);
});

test("what somebody else changes meanwhile is told, not lost, and takes nothing of what is typed", async ({
  stack,
  admin: page,
}) => {
  const id = await promotion(stack, "Two at once");
  await page.goto(`/promotions/${id}`);
  await page.keyboard.press("p");
  await page.getByLabel("Title").fill("Typed here");
  await page.getByLabel("Reason").fill("a new name");
  await stack.db.query("UPDATE charge_event SET add_percent = 50 WHERE id = $1", [id]);
  await save(page);
  await expect(page.getByText("CHANGED_MEANWHILE")).toBeVisible();
  await expect(page.getByText("Somebody else has changed this promotion")).toBeVisible();
  await expect(page.getByLabel("Title")).toHaveValue("Typed here");
  await expect(page.getByLabel("Bonus (%)")).toHaveValue("50");
  await save(page);
  await expect(page.getByText("The promotion is saved.")).toBeVisible();
  expect(await stack.value("SELECT concat_ws(' ', title, add_percent) FROM charge_event WHERE id = $1", [id])).toBe(
    "Typed here 50",
  );
});

test("a refund names what it gives back, and no click beside its dialog loses the reason", async ({
  stack,
  admin: page,
}) => {
  const payment = await stack.pay({ amount: 12_345, orderName: "Dinner by the river" });
  await page.goto(`/payments/${payment}`);
  await page.getByRole("button", { name: "Refund", exact: true }).dblclick();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("₩12,345");
  await expect(dialog).toContainText("Dinner by the river");
  await dialog.getByLabel("Reason").fill("half a reason");
  await page.mouse.click(5, 400);
  await expect(dialog.getByLabel("Reason")).toHaveValue("half a reason");
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await page.getByRole("button", { name: "Refund", exact: true }).click();
  await expect(dialog.getByLabel("Reason")).toHaveValue("half a reason");
});

test("after a lost answer a refund shows what became of it before another reason can be given", async ({
  stack,
  admin: page,
  complaints,
}) => {
  complaints.expect(/ERR_FAILED/);
  const payment = await stack.pay();
  await page.goto(`/payments/${payment}`);
  // Nothing comes of the first try.
  let cut = true;
  await page.route("**/graphql", (route) =>
    cut && route.request().postData()?.includes("RefundPayment") ? route.abort() : route.fallback(),
  );
  const dialog = await act(page, "Refund", "first reason");
  await expect(dialog.getByText("it is not known whether it was done")).toBeVisible();
  await expect(dialog.getByLabel("Reason")).not.toBeEditable();
  await dialog.getByRole("button", { name: "Look what became of it" }).click();
  await expect(dialog.getByText("The server has not done it so far.")).toBeVisible();
  cut = false;
  await loseAnswer(page, "RefundPayment");
  await dialog.getByLabel("Reason").fill("second reason");
  await dialog.getByRole("button", { name: "Refund", exact: true }).click();
  await expect(dialog.getByText("This cannot be done any more: Not while it is Refunded.")).toBeVisible();
  await expect(dialog.getByText("IDEMPOTENCY_KEY_REUSED")).toBeHidden();
  expect(await stack.value("SELECT string_agg(reason, ',') FROM refund WHERE payment_id = $1", [payment])).toBe(
    "second reason",
  );
});

test("a provider that does not answer is no success", async ({ stack, admin: page }) => {
  const payment = await stack.pay({ card: "4000000000000341" });
  await stack.provider({ operation: "lookup", times: 20, status: 500, code: "PROVIDER_ERROR" });
  await page.goto(`/payments/${payment}`);
  await expect(chip(page, "PENDING")).toBeVisible();
  const dialog = await act(page, "Ask the provider", "the customer is on the phone");
  await expect(dialog.getByRole("alert")).toContainText("The provider did not say how the payment ended");
  await expect(page.getByText("The payment is Pending.")).toBeHidden();
  await stack.provider({ operation: "lookup", times: 0 });
});

test("a payment whose event is dead-lettered says so, with its failures and when", async ({ stack, admin: page }) => {
  const payment = await stack.pay();
  await stack.settled();
  await page.goto(`/payments/${payment}`);
  const panel = (title: string) => page.locator(".panel").filter({ has: page.getByRole("heading", { name: title }) });
  await expect(panel("What it waits for")).toContainText("those who should know of it do not know yet");
  await expect(panel("What it waits for")).toContainText("Waits for a person");
  await expect(panel("Failures").filter({ hasText: "Event dead-lettered" })).toHaveCount(1);
  await expect(panel("Timeline").getByRole("link", { name: /PAYMENT_COMPLETED/ })).toHaveCount(2);
});

test("the jobs are run once, and the audit log says why", async ({ stack, admin: page }) => {
  const runs = () =>
    stack.value<number>(
      "SELECT count(*)::int FROM audit_entry WHERE action = 'runChargeJobs' AND reason = 'clicked twice'",
    );
  await page.goto("/charge-jobs");
  await page.getByRole("button", { name: "Run the jobs now" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Also while no promotion is active").check();
  await dialog.getByLabel("Reason").fill("clicked twice");
  await dialog.getByRole("button", { name: "Run the jobs now" }).dblclick();
  await expect(dialog).toBeHidden();
  expect(await runs()).toBe(1);
});

test("a session that ends takes nothing of what is typed, on the page and in a dialog", async ({
  stack,
  page,
  context,
  complaints,
}) => {
  complaints.expect(/401|403|WebSocket/);
  const payment = await stack.pay();
  await signIn(page, "admin");
  const endAndReturn = async () => {
    await context.clearCookies();
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await expect(page.getByText("Your session has ended. Sign in again.")).toBeVisible();
    await expect(page.getByRole("dialog")).toBeHidden();
    await page.getByRole("button", { name: /^Admin/ }).click();
    await expect(page.locator("[data-live=live]")).toBeVisible();
  };
  await page.goto(`/payments/${payment}`);
  await page.getByRole("button", { name: "Refund", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("half a reason");
  await endAndReturn();
  await expect(dialog.getByLabel("Reason")).toHaveValue("half a reason");
  await dialog.getByRole("button", { name: "Refund", exact: true }).click();
  await expect(chip(page, "REFUNDED")).toBeVisible();

  await page.goto("/promotions/new");
  await page.getByLabel("Title").fill("Half a form");
  await context.clearCookies();
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await page.getByRole("button", { name: /^Admin/ }).click();
  await expect(page.getByLabel("Title")).toHaveValue("Half a form");
});

test("who signs out in one tab is signed out in the others", async ({ admin: page, context, complaints }) => {
  complaints.expect(/401|403/);
  const other = await context.newPage();
  await other.goto("/payments");
  await expect(other.locator("[data-live=live]")).toBeVisible();
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(other.getByRole("heading", { name: "Sign in to Paydesk" })).toBeVisible();
  await expect(other.locator("[data-live]")).toBeHidden();
});

test("an answer that comes after its dialog was closed is told all the same", async ({ stack, admin: page }) => {
  const payment = await stack.pay();
  await stack.provider({ operation: "cancel", times: 1, status: 403, code: "NOT_CANCELABLE_PAYMENT", delayMs: 1_500 });
  await page.goto(`/payments/${payment}`);
  const dialog = await act(page, "Refund", "wanted back");
  await expect(dialog.getByText("Working…")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(page.getByRole("status").getByText(/REFUND_REFUSED/)).toBeVisible();
});

test("a payment says that its refund is under way, in the tab that did not ask for it too", async ({
  stack,
  admin: page,
}) => {
  const payment = await stack.pay();
  await page.goto(`/payments/${payment}`);
  await expect(chip(page, "COMPLETED")).toBeVisible();
  await stack.provider({ operation: "cancel", times: 9, status: 500, code: "PROVIDER_ERROR", effect: false });
  await stack.provider({ operation: "lookup", times: 9, status: 500, code: "PROVIDER_ERROR" });
  await stack.gql(
    "mutation ($input: RefundPaymentInput!) { refundPayment(input: $input) { userErrors { code } } }",
    { input: { paymentId: payment, reason: "asked for elsewhere", idempotencyKey: `elsewhere-${payment}` } },
    await stack.sign("ADMIN", "alice"),
  );
  const panel = page.locator(".panel").filter({ has: page.getByRole("heading", { name: "What it waits for" }) });
  await expect(panel).toContainText(/Refund \d+/);
  await expect(panel).not.toContainText("final state");
  await expect(page.getByRole("button", { name: "Refund", exact: true })).toHaveAttribute("aria-disabled", "true");
  await stack.provider({ operation: "cancel", times: 0 });
  await stack.provider({ operation: "lookup", times: 0 });
});

test("a form that was not saved is not left without asking", async ({ admin: page }) => {
  await fillPromotion(page, "Not saved yet");
  const asked: string[] = [];
  page.on("dialog", (dialog) => {
    asked.push(dialog.message());
    void (asked.length === 1 ? dialog.dismiss() : dialog.accept());
  });
  await page.getByRole("link", { name: "Payments" }).click();
  await expect.poll(() => asked.length).toBe(1);
  await expect(page.getByLabel("Title")).toHaveValue("Not saved yet");
  await page.getByRole("link", { name: "Payments" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Payments" })).toBeVisible();
});

test("the next person to sign in sees nothing that the one before might do", async ({ stack, admin: page }) => {
  const payment = await stack.pay();
  await page.goto(`/payments/${payment}`);
  await expect(page.getByRole("button", { name: "Refund", exact: true })).toHaveAttribute("aria-disabled", "false");
  await page.getByRole("button", { name: "Sign out" }).click();
  // The answer does not come: what is shown can only be what was kept.
  await page.route("**/graphql", (route) =>
    route.request().postData()?.includes("query Payment(") ? undefined : route.fallback(),
  );
  await page.getByRole("button", { name: /^Operator/ }).click();
  await expect(page.getByRole("heading", { name: `Payment ${payment}` })).toBeVisible();
  await expect(page.getByRole("button", { name: "Refund", exact: true })).toBeHidden();
  await page.unrouteAll({ behavior: "ignoreErrors" });
});
