import { act, chip, expect, test } from "./support/test";

test("a payment's event that fails is seen live, found, requeued and seen published", async ({
  stack,
  admin: page,
}) => {
  await expect(page.getByRole("heading", { name: "Overview" })).toBeVisible();
  // Nobody is bound, so the event comes back.
  const payment = await stack.pay({ orderName: "A dinner that nobody hears of" });
  const failure = page.locator("[data-feed]").getByRole("link", { name: "Event dead-lettered" }).first();
  await expect(failure).toBeVisible();

  await page.goto(`/payments/${payment}`);
  await expect(chip(page, "COMPLETED")).toBeVisible();
  await page.getByRole("link", { name: "PAYMENT_COMPLETED", exact: true }).first().click();
  await expect(chip(page, "DEAD_LETTERED")).toBeVisible();
  await expect(page.getByText("Waits for a person")).toBeVisible();
  await expect(page.getByText("312 NO_ROUTE").first()).toBeVisible();
  await expect(page.getByText('"amount":')).toBeVisible();

  const listener = await stack.listen("payment.completed");
  const dialog = await act(page, "Requeue", "the queue is bound now");
  await expect(dialog).toBeHidden();
  // Without a reload: the row tells its changes.
  await expect(chip(page, "PUBLISHED")).toBeVisible();
  await expect(page.getByText("Nothing: this is its final state.")).toBeVisible();
  await expect(page.getByText("after a requeue").first()).toBeVisible();
  await expect(page.getByRole("button", { name: "Requeue" })).toHaveAttribute("aria-disabled", "true");
  expect(
    await stack.value("SELECT reason FROM audit_entry WHERE action = 'requeueOutboxEvent' ORDER BY id DESC LIMIT 1"),
  ).toBe("the queue is bound now");
  await listener.end();
});

test("a second requeue of the same event is refused, and the refusal never looks like success", async ({
  stack,
  admin: page,
}) => {
  const payment = await stack.pay();
  const find = async () =>
    stack.value<string>("SELECT id FROM payment_outbox WHERE aggregate_id = $1 AND status = 'DEAD_LETTERED'", [
      payment,
    ]);
  await expect.poll(find).toBeTruthy();
  const event = await find();
  await page.goto(`/outbox/${event}`);
  await page.getByRole("button", { name: "Requeue" }).click();
  const dialog = page.getByRole("dialog");
  await expect(
    dialog.getByText(
      `no queue was bound to the exchange ${stack.prefix}payment.events for the routing key payment.completed.`,
    ),
  ).toBeVisible();
  // No reason, no action.
  await dialog.getByRole("button", { name: "Requeue" }).click();
  await expect(dialog.getByText("Write why.")).toBeVisible();
  await dialog.getByLabel("Reason").fill("once more");
  // Somebody else is faster.
  await stack.db.query(
    "UPDATE payment_outbox SET status = 'PUBLISHED', published_at = now(), dead_lettered_at = NULL WHERE id = $1",
    [event],
  );
  await dialog.getByRole("button", { name: "Requeue" }).click();
  await expect(dialog.getByRole("alert")).toContainText("INVALID_STATE");
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(chip(page, "PUBLISHED")).toBeVisible();
});

test("an event that nobody had to hear is no error", async ({ stack, admin: page }) => {
  const listener = await stack.listen("payment.completed");
  const payment = await stack.pay();
  await stack.gql(
    "mutation ($input: RefundPaymentInput!) { refundPayment(input: $input) { replayed } }",
    { input: { idempotencyKey: `unheard-${payment}`, paymentId: payment, reason: "The meeting was moved" } },
    await stack.sign("ADMIN", "alice"),
  );
  await page.goto(`/outbox?aggregateId=${payment}&eventType=PAYMENT_REFUNDED`);
  const row = page.getByRole("row", { name: /PAYMENT_REFUNDED/ });
  await expect(row).toContainText("Published");
  await expect(row).toContainText("nobody listened, allowed");
  await expect(row).not.toContainText("UNROUTABLE");
  await page.locator("a[data-row]").click();
  await expect(page.getByText("nobody listened, allowed")).toBeVisible();
  await listener.end();
});

test("a payload is shown with its numbers as written, and copied byte for byte", async ({
  stack,
  admin: page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const written = '{ "won": 1.10, "big":12345678901234567890123, "e": 1E2, "10": 1, "2": 2 }';
  const id = await stack.value<string>(
    `INSERT INTO payment_outbox (event_type, aggregate_type, aggregate_id, exchange, routing_key, payload)
     VALUES ('TESTED', 'TEST', '1', $1, 'nobody', $2::text::json) RETURNING id`,
    [`${stack.prefix}payment.events`, written],
  );
  await page.goto(`/outbox/${id}`);
  const payload = page.getByRole("region", { name: "Payload" });
  await expect(payload).toContainText("1.10");
  await expect(payload).toContainText("12345678901234567890123");
  await expect(payload).toContainText("1E2");
  await page.getByRole("button", { name: "Copy Payload" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(written);
});
