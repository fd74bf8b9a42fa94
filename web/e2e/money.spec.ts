import type { Page } from "@playwright/test";
import { eventually, type Stack } from "./support/stack";
import { act, chip, expect, test } from "./support/test";

test("a payment is refunded, with a reason, and seen refunded", async ({ stack, admin: page }) => {
  const payment = await stack.pay({ amount: 3_000_000_000 });
  await page.goto(`/payments/${payment}`);
  await expect(page.getByText("₩3,000,000,000")).toBeVisible();
  const dialog = await act(page, "Refund", "the meeting was cancelled");
  await expect(dialog).toBeHidden();
  await expect(page.getByRole("status").getByText("The refund is Completed.")).toBeVisible();
  await expect(chip(page, "REFUNDED")).toBeVisible();
  await page.getByRole("link", { name: /^Refund \d+$/ }).click();
  await expect(chip(page, "COMPLETED")).toBeVisible();
  await expect(page.getByText("the meeting was cancelled").first()).toBeVisible();
  await expect(page.getByText("TOSS cancel").first()).toBeVisible();
});

test("a refund that the provider refused is retried and completed", async ({ stack, admin: page }) => {
  const payment = await stack.pay();
  await stack.provider({ operation: "cancel", times: 1, status: 403, code: "NOT_CANCELABLE_PAYMENT" });
  await page.goto(`/payments/${payment}`);
  const dialog = await act(page, "Refund", "wanted back");
  await expect(dialog.getByRole("alert")).toContainText("REFUND_REFUSED");
  await page.keyboard.press("Escape");

  await page.goto("/refunds?status=FAILED");
  await page.locator("a[data-row]").first().click();
  await expect(chip(page, "FAILED")).toBeVisible();
  await expect(page.getByText("NOT_CANCELABLE_PAYMENT").first()).toBeVisible();
  await act(page, "Retry the refund", "the provider is ready now");
  await expect(chip(page, "COMPLETED")).toBeVisible();
  expect(
    await stack.value("SELECT count(*)::int FROM refund WHERE payment_id = $1 AND status = 'COMPLETED'", [payment]),
  ).toBe(1);
});

test("a payment whose outcome is unknown is asked about at the provider", async ({ stack, admin: page }) => {
  // Charged, but the answer never arrives.
  const payment = await stack.pay({ card: "4000000000000341" });
  await page.goto(`/payments/${payment}`);
  await expect(chip(page, "PENDING")).toBeVisible();
  await expect(page.getByText("The payment provider did not say how it ended.")).toBeVisible();
  await act(page, "Ask the provider", "the customer is on the phone");
  await expect(chip(page, "COMPLETED")).toBeVisible();
});

test("a dead letter is replayed when what it lacked is there, and another one is discarded", async ({
  stack,
  admin: page,
}) => {
  const seat = String(Date.now());
  await stack.provider({ operation: "key-in", times: 4, status: 500, code: "PROVIDER_ERROR", effect: false });
  const message = {
    eventId: crypto.randomUUID(),
    eventType: "PARTICIPANT_REGISTER",
    occurredAt: new Date().toISOString(),
    correlationId: seat,
    aggregateType: "MEETING",
    aggregateId: seat,
    data: { userId: Number(seat), meetingId: Number(seat), amount: 12_000 },
  };
  await stack.provider({ operation: "lookup", times: 4, status: 500, code: "PROVIDER_ERROR" });
  stack.send("participant.register", JSON.stringify(message));
  await openDeadLetter(stack, page, "payment.participant.register");
  await expect(chip(page, "OPEN")).toBeVisible();
  await expect(page.getByRole("region", { name: "Body" })).toContainText("PARTICIPANT_REGISTER");
  await stack.provider({ operation: "key-in", times: 0 });
  await stack.provider({ operation: "lookup", times: 0 });
  const dialog = await act(page, "Replay", "the provider is back");
  await expect(dialog).toBeHidden();
  await expect(chip(page, "REPLAYED")).toBeVisible();
  expect(await stack.value("SELECT status FROM payment WHERE meeting_id = $1", [seat])).toBe("COMPLETED");

  stack.send("participant.cancel", '{"no": "wrapper", "n": 1.0}');
  await openDeadLetter(stack, page, "payment.participant.cancel");
  await expect(page.getByRole("region", { name: "Body" })).toContainText("1.0");
  await act(page, "Discard", "a test of the meeting service");
  await expect(chip(page, "DISCARDED")).toBeVisible();
  await expect(page.getByRole("button", { name: "Replay" })).toHaveAttribute("aria-disabled", "true");
});

/** The newest message of a queue that could not be consumed, by way of the list. */
async function openDeadLetter(stack: Stack, page: Page, queue: string) {
  const find = () =>
    stack.value<string>(
      "SELECT max(id) FROM inbound_dead_letter WHERE queue = $1 AND status = 'OPEN' AND received_at > now() - interval '20 seconds'",
      [queue],
    );
  const id = await eventually(`a dead letter of ${queue}`, async () => (await find()) ?? undefined);
  await page.goto("/dead-letters?status=OPEN");
  await page.locator(`a[data-row="${id}"]`).click();
}
