import { Stack } from "./support/stack";
import { expect, test } from "./support/test";

test("a server that takes nothing but the console's own queries serves the whole console", async ({
  page,
  complaints,
}) => {
  test.setTimeout(120_000);
  const stack = await Stack.start({ PAYDESK_CONSOLE_QUERIES_ONLY: "true" });
  try {
    const payment = await stack.pay();
    await page.goto(stack.url);
    await page.getByRole("button", { name: /^Admin/ }).click();
    await expect(page.locator("[data-live=live]")).toBeVisible();
    await expect(page.locator("[data-books]")).toBeVisible();
    for (const path of [
      "payments",
      "refunds",
      "outbox",
      "dead-letters",
      "charges",
      "charge-jobs",
      "promotions",
      "members",
    ]) {
      await page.goto(`${stack.url}/${path}`);
      await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
      await expect(page.getByRole("alert")).toHaveCount(0);
    }
    // Its subscriptions and its mutations too.
    await page.goto(`${stack.url}/payments/${payment}`);
    await expect(page.locator("[data-live=live]")).toBeVisible();
    await page.getByRole("button", { name: "Refund", exact: true }).click();
    await page.getByLabel("Reason").fill("wanted back");
    await page.getByRole("dialog").getByRole("button", { name: "Refund", exact: true }).click();
    await expect(page.locator("header [data-status=REFUNDED]")).toBeVisible();
    const code = await page.evaluate(async () => {
      const headers = { "content-type": "application/json", "x-paydesk-console": "1" };
      const body = JSON.stringify({ query: "{ viewer { subject } }" });
      const answer = await fetch("/graphql", { method: "POST", headers, body });
      return (await answer.json()).errors[0].extensions.code;
    });
    expect(code).toBe("BAD_USER_INPUT");
    await page.goto("about:blank");
  } finally {
    complaints.expect(/WebSocket/);
    await stack.stop();
  }
});
