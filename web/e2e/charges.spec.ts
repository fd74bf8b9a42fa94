import { act, chip, expect, save, test } from "./support/test";

test("a promotion is made and changed, a wrong one is refused, and an operator only looks", async ({
  stack,
  admin: page,
}) => {
  await page.goto("/promotions");
  await page.getByRole("link", { name: "New promotion" }).click();
  await page.getByLabel("Title").fill("Summer festival");
  await page.getByLabel("Begins").fill("2026-01-01T00:00");
  await page.getByLabel("Ends").fill("2025-01-01T00:00");
  await page.getByLabel("Bonus (%)").fill("10");
  await page.getByLabel("Reason").fill("it is summer");
  await save(page);
  await expect(page.getByRole("alert")).toContainText("INVALID_INPUT");
  await page.getByLabel("Ends").fill("2036-01-01T00:00");
  await save(page);
  await expect(page).toHaveURL(/\/promotions\/\d+$/);
  await expect(chip(page, "ACTIVE")).toBeVisible();
  // Midnight in Seoul.
  expect(
    await stack.value(
      "SELECT to_char(start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') FROM charge_event ORDER BY id DESC LIMIT 1",
    ),
  ).toBe("2025-12-31 15:00");
  await page.getByLabel("Switched on").uncheck();
  await page.getByLabel("Reason").fill("summer is over");
  await save(page);
  await expect(chip(page, "OFF")).toBeVisible();
  expect(
    await stack.value(
      "SELECT count(*)::int FROM audit_entry WHERE action IN ('createChargeEvent', 'updateChargeEvent')",
    ),
  ).toBe(2);
});

test("a bonus that failed for good is found, retried and granted once", async ({ stack, admin: page }) => {
  await stack.gql(
    "mutation ($input: ChargeEventInput!) { createChargeEvent(input: $input) { userErrors { code } } }",
    {
      input: {
        title: "Ten per cent",
        startAt: "2026-01-01T00:00:00Z",
        endAt: "2036-01-01T00:00:00Z",
        addPercent: 10,
        availableCount: 0,
        isActive: true,
      },
    },
    await stack.sign("ADMIN", "alice"),
  );
  // The ledger takes no bonus for now.
  await stack.db.query(`
    CREATE FUNCTION no_bonus() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the ledger is closed'; END $$;
    CREATE TRIGGER no_bonus BEFORE INSERT ON ledger_entry FOR EACH ROW WHEN (NEW.kind = 'BONUS') EXECUTE FUNCTION no_bonus()`);
  const member = await stack.member("Minseo");
  const charge = await stack.buy(member);
  await page.goto(`/charges/${charge}`);
  await expect(chip(page, "COMPLETE")).toBeVisible();
  await page.getByRole("link", { name: /^Promotion · 10 can$/ }).click();
  await expect(chip(page, "FAILED")).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText("Waits for a person")).toBeVisible();
  await stack.db.query("DROP TRIGGER no_bonus ON ledger_entry; DROP FUNCTION no_bonus()");
  const dialog = await act(page, "Retry the bonus", "the ledger is open again");
  await expect(dialog).toBeHidden();
  await expect(chip(page, "DONE")).toBeVisible();
  await page.getByRole("link", { name: "Minseo" }).click();
  await expect(page.getByRole("heading", { name: `Member ${member}` })).toBeVisible();
  const ledger = page.getByRole("region", { name: "Ledger" });
  await expect(ledger.locator("tbody tr")).toHaveCount(2);
  await expect(ledger.locator("tbody tr").first()).toContainText("Bonus");
  await page.getByRole("link", { name: "All of them" }).first().click();
  await expect(page).toHaveURL(`/charges?memberId=${member}`);
  await expect(page.locator("a[data-row]")).toHaveCount(2);
  await expect(page.locator("[data-count]")).toHaveText("2 charges");
  // All jobs are all of them, the granted ones too.
  await page.goto(`/charge-jobs?memberId=${member}`);
  await expect(page.getByRole("button", { name: "All", exact: true })).toHaveAttribute("aria-pressed", "true");
  await expect(page.locator("tbody [data-status=DONE]")).toHaveCount(1);
  await expect(page.locator("[data-count]")).toHaveText("1 bonus job");
  await page.goto("/charge-jobs?memberId=1&status=FAILED");
  await expect(page.getByText("Nothing matches Failed · Member 1.")).toBeVisible();
});

test("a member is found by id, and among those who bought last", async ({ stack, admin: page }) => {
  const member = await stack.member("Haneul");
  await stack.buy(member);
  await page.keyboard.press("g");
  await page.keyboard.press("u");
  await expect(page.getByRole("heading", { level: 1, name: "Members" })).toBeVisible();
  await expect(page.getByRole("row", { name: /Haneul/ })).toBeVisible();
  await page.keyboard.press("/");
  await page.keyboard.type(` ${member} `);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`/members/${member}`);
  await expect(page.getByRole("heading", { name: `Member ${member}` })).toBeVisible();
  await page.getByRole("link", { name: "Back to Members" }).click();
  await page.locator(`a[data-row="${member}"]`).click();
  await expect(page.getByText("Haneul")).toBeVisible();
  await page.goto("/members/987654321");
  await expect(page.getByText("There is no member with the id 987654321.")).toBeVisible();
});

test("the jobs are run now, and what was done is told", async ({ admin: page }) => {
  await page.goto("/charge-jobs");
  await page.getByRole("button", { name: "Run the jobs now" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText("local")).toBeVisible();
  await dialog.getByLabel("Reason").fill("a member waits");
  await dialog.getByRole("button", { name: "Run the jobs now" }).click();
  await expect(page.getByText(/taken, \d+ granted|No promotion is active/)).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  // Forced, it looks whatever promotions there are.
  await page.getByRole("button", { name: "Run the jobs now" }).click();
  await dialog.getByLabel("Also while no promotion is active").check();
  await dialog.getByLabel("Reason").fill("a member waits");
  await dialog.getByRole("button", { name: "Run the jobs now" }).click();
  await expect(page.getByRole("status").getByText(/taken, \d+ granted/)).toBeVisible();
});
