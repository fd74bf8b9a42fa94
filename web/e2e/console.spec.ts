import { expect, signIn, test } from "./support/test";

test("nobody sees anything without signing in, and a token that is no good says so", async ({
  stack,
  page,
  complaints,
}) => {
  complaints.expect(/401|403/);
  await page.goto("/payments?status=FAILED");
  await expect(page.getByRole("heading", { name: "Sign in to Paydesk" })).toBeVisible();
  await page.getByLabel("Access token").fill("not.a.token");
  await page.getByRole("button", { name: "Sign in with the token" }).click();
  await expect(page.getByRole("alert")).toContainText("The token was refused");
  await page.getByLabel("Access token").fill(await stack.sign("SERVICE", "meetings"));
  await page.getByRole("button", { name: "Sign in with the token" }).click();
  await expect(page.getByRole("alert")).toContainText("neither ADMIN nor OPERATOR");
  await page.getByLabel("Access token").fill(await stack.sign("OPERATOR", "olivia"));
  await page.getByRole("button", { name: "Sign in with the token" }).click();
  // Where one wanted to be.
  await expect(page.getByRole("heading", { name: "Payments" })).toBeVisible();
  expect(page.url()).toContain("/payments?status=FAILED");
  await expect(page.getByText("olivia")).toBeVisible();
  // The browser holds no token that a script could read.
  expect(
    await page.evaluate(() => document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)),
  ).not.toContain("eyJ");
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByRole("heading", { name: "Sign in to Paydesk" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Sign in to Paydesk" })).toBeVisible();
});

test("the session works at every address that leads here", async ({ stack, page }) => {
  await page.goto(stack.url.replace("127.0.0.1", "localhost"));
  await page.getByRole("button", { name: /^Admin/ }).click();
  await expect(page.locator("[data-live=live]")).toBeVisible();
  await page.reload();
  await expect(page.locator("[data-live=live]")).toBeVisible();
});

test("a filter stands in the address, survives a reload, and back undoes it", async ({ stack, admin: page }) => {
  const declined = await stack.pay({ card: "4000000000000002" });
  const paid = await stack.pay();
  await page.goto("/payments");
  await expect(page.locator(`a[data-row="${declined}"]`)).toBeVisible();
  await expect(page.locator(`a[data-row="${paid}"]`)).toBeVisible();
  await page.getByRole("button", { name: "Failed", exact: true }).click();
  await expect(page).toHaveURL(/status=FAILED/);
  await expect(page.locator(`a[data-row="${paid}"]`)).toBeHidden();
  const user = await stack.value<string>("SELECT user_id FROM payment WHERE id = $1", [declined]);
  await page.getByLabel("Value").fill(user);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`userId=${user}`));
  await expect(page.locator("a[data-row]")).toHaveCount(1);
  await expect(page.locator("[data-count]")).toHaveText("1 payment");
  await page.reload();
  await expect(page.locator("a[data-row]")).toHaveCount(1);
  await page.locator("a[data-row]").click();
  await expect(page).toHaveURL(`/payments/${declined}`);
  await page.goBack();
  await expect(page.locator("a[data-row]")).toHaveCount(1);
  await page.goBack();
  await expect(page).toHaveURL(/status=FAILED$/);
  await page.goBack();
  await expect(page.locator(`a[data-row="${paid}"]`)).toBeVisible();
  // An empty list says which filter empties it.
  await page.goto("/payments?userId=424242&status=FAILED");
  await expect(page.getByText("Nothing matches Failed · User 424242.")).toBeVisible();
  await page.getByRole("button", { name: "Clear the filter" }).click();
  await expect(page.locator(`a[data-row="${paid}"]`)).toBeVisible();
});

test("pages go back and forth without a gap or a repetition", async ({ stack, admin: page }) => {
  await stack.db.query(
    `INSERT INTO payment (order_id, user_id, meeting_id, order_name, amount, status, payment_key, idempotency_key, completed_at)
     SELECT 'page-' || n, 777, 5000000 + n, 'Page', 1000, 'COMPLETED', 'page-' || n, 'page-' || n, now() FROM generate_series(1, 120) n`,
  );
  await page.goto("/payments?userId=777");
  const ids = () =>
    page.locator("a[data-row]").evaluateAll((links) => links.map((link) => link.getAttribute("data-row")));
  await expect(page.locator("a[data-row]")).toHaveCount(50);
  await expect(page.locator("[data-count]")).toHaveText("120 payments");
  const first = await ids();
  await page.getByRole("link", { name: "Older" }).click();
  await expect.poll(async () => (await ids()).some((id) => first.includes(id))).toBe(false);
  const second = await ids();
  await page.getByRole("link", { name: "Older" }).click();
  await expect(page.locator("a[data-row]")).toHaveCount(20);
  expect(new Set([...first, ...second, ...(await ids())]).size).toBe(120);
  await page.getByRole("link", { name: "Newer" }).click();
  await expect.poll(ids).toEqual(second);
  await page.getByRole("link", { name: "Newest" }).click();
  await expect.poll(ids).toEqual(first);
  // A cursor of another list, or nonsense, is an error that says so.
  await page.goto("/payments?after=nonsense");
  await expect(page.getByRole("alert")).toContainText("BAD_USER_INPUT");
});

test("a list never moves under the reader", async ({ stack, admin: page }) => {
  await stack.pay();
  await page.goto("/payments");
  const first = page.locator("a[data-row]").first();
  const seen = await first.getAttribute("data-row");
  const fresh = await stack.pay();
  const before = await first.boundingBox();
  const bar = page.getByRole("button", { name: "1 new – show" });
  await expect(bar).toBeVisible();
  expect(await first.boundingBox()).toEqual(before);
  expect(await first.getAttribute("data-row")).toBe(seen);
  // What is shown changes in place.
  await stack.db.query("UPDATE payment SET order_name = 'Renamed meanwhile' WHERE id = $1", [seen]);
  await expect(page.locator("tbody tr").first()).toContainText("Renamed meanwhile");
  await bar.click();
  await expect(first).toHaveAttribute("data-row", fresh);
  await expect(bar).toBeHidden();
  // Paused: nothing is asked for, not even when the window comes back.
  await page.keyboard.press("p");
  await expect(page.locator("[data-live=paused]")).toBeVisible();
  let asked = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/graphql")) asked += 1;
  });
  await stack.pay();
  await page.evaluate(() => {
    window.dispatchEvent(new Event("focus"));
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await page.waitForTimeout(4_000);
  expect(asked).toBe(0);
  await page.keyboard.press("p");
  await expect(bar).toBeVisible();
});

test("an operator sees what could be done and why not by him, and the server refuses him too", async ({
  stack,
  operator: page,
}) => {
  const payment = await stack.pay();
  await page.goto(`/payments/${payment}`);
  const refund = page.getByRole("button", { name: "Refund", exact: true });
  await expect(refund).toHaveAttribute("aria-disabled", "true");
  await expect(page.getByText("Only an ADMIN may do this.").first()).toBeVisible();
  await refund.click({ force: true });
  await expect(page.getByRole("dialog")).toBeHidden();
  const code = await page.evaluate(async (id) => {
    const query = `mutation { refundPayment(input: { idempotencyKey: "x", paymentId: "${id}", reason: "x" }) { replayed } }`;
    const headers = { "content-type": "application/json", "x-paydesk-console": "1" };
    const answer = await fetch("/graphql", { method: "POST", headers, body: JSON.stringify({ query }) });
    return (await answer.json()).errors[0].extensions.code;
  }, payment);
  expect(code).toBe("FORBIDDEN");
});

test("the session is good for nothing without the console's mark", async ({ admin: page, complaints }) => {
  complaints.expect(/403/);
  const refused = await page.evaluate(async () => {
    const body = JSON.stringify({ query: "{ viewer { subject } }" });
    const answer = await fetch("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    return answer.status;
  });
  expect(refused).toBe(403);
});

test("the language changes at once and everywhere, and so do zone and theme", async ({ stack, admin: page }) => {
  const payment = await stack.pay();
  await page.goto("/settings");
  await page.getByRole("radio", { name: "한국어" }).check();
  await expect(page.getByRole("heading", { level: 1, name: "설정" })).toBeVisible();
  await expect(page.locator("html")).toHaveAttribute("lang", "ko");
  for (const [path, title] of [
    ["/", "현황"],
    ["/payments", "결제"],
    ["/refunds", "환불"],
    ["/outbox", "아웃박스"],
    ["/dead-letters", "데드 레터"],
    ["/charges", "충전"],
    ["/charge-jobs", "보너스 작업"],
    ["/promotions", "프로모션"],
    ["/members", "회원"],
  ] as const) {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1, name: title })).toBeVisible();
  }
  await page.goto(`/payments/${payment}`);
  await expect(page.getByRole("heading", { name: "지금 할 수 있는 일" })).toBeVisible();
  await page.getByRole("button", { name: "English" }).click();
  await expect(page.getByRole("heading", { name: "What can be done now" })).toBeVisible();

  // 9 hours apart, and in the address, so that a link shows the same.
  const time = page.locator("header + div time, main time").first();
  const seoul = await time.textContent();
  await page.getByLabel("Time zone").selectOption("UTC");
  await expect(page).toHaveURL(/tz=UTC/);
  await expect(time).not.toHaveText(seoul ?? "");
  await page.goto("/payments");
  await expect(page).toHaveURL(/tz=UTC/);
  await page.goto("/settings");
  await page.getByRole("radio", { name: "Dark" }).check();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});

test("everything can be done by keyboard alone, in Hangul mode too", async ({ stack, page }) => {
  const payment = await stack.pay();
  await expect
    .poll(() => stack.value("SELECT status FROM payment_outbox WHERE aggregate_id = $1", [payment]))
    .toBe("DEAD_LETTERED");
  await page.goto("/");
  await expect(page.getByRole("button", { name: /^Admin/ })).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: /^Admin/ })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.locator("[data-live=live]")).toBeVisible();
  const press = async (code: string, key: string) => {
    // What a Korean keyboard sends: the place of the key, and another letter.
    await page.evaluate(
      ([code, key]) =>
        window.dispatchEvent(new KeyboardEvent("keydown", { code, key, bubbles: true, cancelable: true })),
      [code, key] as const,
    );
  };
  await press("KeyG", "ㅎ");
  await press("KeyE", "ㄷ");
  await expect(page.getByRole("heading", { name: "Outbox" })).toBeVisible();
  await page.keyboard.press("/");
  await expect(page.getByLabel("Value")).toBeFocused();
  // Letters that are typed are text.
  await page.keyboard.type("gp");
  await expect(page.getByLabel("Value")).toHaveValue("gp");
  await page.keyboard.press("Escape");
  await page.goto(`/outbox?aggregateId=${payment}&aggregateType=PAYMENT`);
  await expect(page.locator("a[data-row]")).toHaveCount(1);
  await page.keyboard.press("j");
  await expect(page.locator("a[data-row]")).toBeFocused();
  await page.keyboard.press("Enter");
  const requeue = page.getByRole("button", { name: "Requeue" });
  await expect(requeue).toBeVisible();
  await requeue.focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await expect(dialog).toBeVisible();
  await dialog.getByLabel("Reason").focus();
  await page.keyboard.type("by keyboard");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(dialog).toBeHidden();
  await expect(requeue).toBeFocused();
  await page.keyboard.press("Shift+Slash");
  await expect(page.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
  await page.keyboard.press("Escape");
  // Where ? and / are written with other keys, and out of a list of choices, which needs neither.
  await press("Minus", "?");
  await expect(page.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
  await page.keyboard.press("Escape");
  await page.goto("/payments");
  await expect(page.getByLabel("Value")).toBeVisible();
  await press("Digit7", "/");
  await expect(page.getByLabel("Value")).toBeFocused();
  await page.getByLabel("Filter by").focus();
  await page.keyboard.press("/");
  await expect(page.getByLabel("Value")).toBeFocused();
  await expect(page.getByLabel("Value")).toHaveValue("");
});

test("what is not there is said plainly, and a path that is none too", async ({ admin: page }) => {
  await page.goto("/payments/987654321");
  await expect(page.getByText("There is no payment with the id 987654321.")).toBeVisible();
  await page.goto("/no/such/page");
  await expect(page.getByText("There is no such page.")).toBeVisible();
  await page.goto("/outbox/abc");
  await expect(page.getByRole("alert")).toContainText("BAD_USER_INPUT");
});

test("an error keeps the rows that were there, and says its code, the request's id and how to try again", async ({
  stack,
  admin: page,
  complaints,
}) => {
  complaints.expect(/500/);
  await stack.pay();
  await page.goto("/payments");
  await expect(page.locator("a[data-row]").first()).toBeVisible();
  await page.route("**/graphql", (route) =>
    route.fulfill({
      status: 500,
      headers: { "x-request-id": "req-42" },
      contentType: "application/json",
      body: '{"errors":[{"message":"broken","extensions":{"code":"INTERNAL"}}]}',
    }),
  );
  const alert = page.getByRole("alert");
  await expect(alert).toContainText("INTERNAL");
  await expect(alert).toContainText("req-42");
  await expect(page.locator("a[data-row]").first()).toBeVisible();
  await page.unroute("**/graphql");
  await alert.getByRole("button", { name: "Retry" }).click();
  await expect(alert).toBeHidden();
});

test("signing in as somebody else shows what he may do", async ({ stack, page }) => {
  const payment = await stack.pay();
  await signIn(page, "operator");
  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn(page, "admin");
  await page.goto(`/payments/${payment}`);
  await expect(page.getByRole("button", { name: "Refund", exact: true })).toHaveAttribute("aria-disabled", "false");
});

test("a session ends with its token, says so, and goes on where one was", async ({ stack, page, complaints }) => {
  complaints.expect(/401/);
  await page.goto("/refunds?status=FAILED");
  const signIn = async (ttl: string) => {
    await page.getByLabel("Access token").fill(await stack.sign("OPERATOR", "olivia", ttl));
    await page.getByRole("button", { name: "Sign in with the token" }).click();
  };
  await signIn("6s");
  await expect(page.getByRole("heading", { name: "Refunds" })).toBeVisible();
  await expect(page.getByText("Your session ends")).toBeVisible();
  await expect(page.getByText("Your session has ended. Sign in again.")).toBeVisible({ timeout: 20_000 });
  await signIn("1h");
  await expect(page.getByRole("heading", { name: "Refunds" })).toBeVisible();
  expect(page.url()).toContain("/refunds?status=FAILED");
  await expect(page.locator("[data-live=live]")).toBeVisible();
});
