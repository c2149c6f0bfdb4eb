import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Store } from "../../../src/api/store.ts";
import { END, graph, START } from "../../../src/runtime/index.ts";
import { browserOfFile } from "../../support/browsers-of-tests.ts";
import { choose, goTo, visit } from "../support/browser.ts";
import { type Served, seed, served } from "../support/seed.ts";

const browser = browserOfFile();

async function seeded(hash: string): Promise<Served & { readonly page: Page }> {
  const service = await served();
  await seed(service.store);
  const page = await visit(browser(), service.inspector);
  await goTo(page, hash);
  await page.getByRole("tree", { name: "State" }).getByRole("treeitem").first().waitFor();
  return { ...service, page };
}

test("fork here: the editor takes a key's value, says what is wrong, and the fork is opened", async () => {
  const { page, store } = await seeded("#/thread/order-17?tab=state");
  await page
    .locator("#timeline")
    .getByRole("option", { name: /^Step 0/ })
    .locator(".number")
    .click();
  await page.getByRole("heading", { name: "step 0 · input" }).waitFor();
  await page.getByRole("button", { name: "Fork …" }).click();
  const dialog = page.getByRole("dialog", { name: "Fork here" });
  await expect.poll(() => dialog.getByLabel("Name").inputValue()).toBe("order-17-fork");
  await dialog.getByLabel("Edit a key of the state").selectOption("total");
  const editor = dialog.getByLabel(/^Edits/);
  await expect.poll(() => editor.inputValue()).toContain('"bigint"');
  await editor.fill('{ "total": ');
  const submit = dialog.getByRole("button", { name: "Fork" });
  expect(await submit.isDisabled()).toBe(true);
  expect(await editor.getAttribute("aria-invalid")).toBe("true");
  await editor.fill('{ "total": { "$": "nonsense" } }');
  await submit.click();
  await dialog.getByRole("alert").filter({ hasText: "tagged value" }).waitFor();
  await editor.fill('{ "total": { "$": "bigint", "v": "7" }, "plan": ["another"] }');
  await submit.click();
  await page.getByRole("heading", { name: "order-17-fork" }).waitFor();
  const state = (await store.thread("order-17-fork").latest())?.state;
  expect([state?.["total"], state?.["plan"]]).toEqual([7n, ["another"]]);
  expect((await store.thread("order-17").latest())?.state["total"]).toBe(129_900n);
});

test("an answer is stored, and the runner picks it up", async () => {
  const { store, inspector } = await served();
  const flow = graph<{ amount: number; verdict?: unknown }>("refunds")
    .node("review", ({ amount }, context) => ({ verdict: context.interrupt({ question: `Refund ${amount}?` }) }))
    .edge(START, "review")
    .edge("review", END)
    .compile({ store: store as unknown as Store });
  await flow.run({ amount: 12 }, { thread: "refund-5" });
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/refund-5");
  const card = page.getByRole("region", { name: "Question of review" });
  await card.getByRole("button", { name: "answer with JSON" }).click();
  await card.getByLabel("Answer, as JSON").fill("{ not json");
  expect(await card.getByRole("button", { name: "Answer", exact: true }).isDisabled()).toBe(true);
  await card.getByLabel("Answer, as JSON").fill('{ "approve": true, "by": "Ann" }');
  await card.getByRole("button", { name: "Answer", exact: true }).click();
  await page.getByText("answered, for the runner to pick up").waitFor();
  expect((await store.thread("refund-5").latest())?.state).toEqual({ amount: 12 });
  const [recovered] = await flow.recover();
  expect(recovered?.result?.state.verdict).toEqual({ approve: true, by: "Ann" });
  await page.locator(".thread-pane .status.done").waitFor();
});

test("a label is given and taken away; nothing happens on Cancel", async () => {
  const { page, store } = await seeded("#/thread/refund-4");
  const label = async (): Promise<string | undefined> => (await store.thread("refund-4").latest())?.label;
  await choose(page, "checkpoint", "Label …");
  await page.getByRole("dialog").getByLabel("Label").fill("ask the boss");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  expect(await label()).toBe("");
  await choose(page, "checkpoint", "Label …");
  await page.getByRole("dialog").getByLabel("Label").fill("ask the boss");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.locator("#timeline .tag.label").filter({ hasText: "ask the boss" }).waitFor();
  expect(await label()).toBe("ask the boss");
});

test("a prune shows what would go before it goes", async () => {
  const { page, store } = await seeded("#/thread/order-17?tab=state");
  await choose(page, "thread", "Prune …");
  const dialog = page.getByRole("dialog", { name: "Prune this thread" });
  await dialog.getByText("Nothing would go.").waitFor();
  expect(await dialog.getByRole("button", { name: "Prune" }).isDisabled()).toBe(true);
  await dialog.getByLabel("Keep the newest").fill("1");
  await dialog.getByText(/^Would delete 4 checkpoints and give back/).waitFor();
  expect(await store.thread("order-17").count()).toBe(5);
  await dialog.getByRole("button", { name: "Prune" }).click();
  await page.getByText(/^Deleted 4 checkpoints/).waitFor();
  expect(await store.thread("order-17").count()).toBe(2);
  await expect.poll(() => page.locator("#timeline").getByRole("option", { name: /^Step/ }).count()).toBe(2);
});

test("a checkpoint and a thread are deleted only when asked for again", async () => {
  const { page, store } = await seeded("#/thread/order-17?tab=state");
  await choose(page, "checkpoint", "Delete …");
  await page.getByRole("dialog", { name: "Delete this checkpoint?" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Delete this checkpoint?" }).waitFor({ state: "hidden" });
  expect(await store.thread("order-17").count()).toBe(5);
  await choose(page, "checkpoint", "Delete …");
  await page.getByRole("dialog", { name: "Delete this checkpoint?" }).getByRole("button", { name: "Delete" }).click();
  await page.getByText("The checkpoint is deleted.").waitFor();
  expect(await store.thread("order-17").count()).toBe(4);
  await choose(page, "thread", "Delete …");
  await page.getByRole("dialog", { name: "Delete this thread?" }).getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(await store.thread("order-17").latest()).toBeUndefined();
  await expect
    .poll(() => page.locator("#threads .name").allTextContents())
    .toEqual(["order-17-again", "import-9", "refund-4"]);
});

test("a thread is exported as a bundle that another store imports", async () => {
  const { page } = await seeded("#/thread/refund-4");
  await choose(page, "thread", "Export …");
  const waiting = page.waitForEvent("download");
  await page.getByRole("dialog").getByRole("button", { name: "Download" }).click();
  const text = readFileSync(await (await waiting).path(), "utf8");
  const other = await served();
  expect(await other.store.import([text])).toMatchObject({ imported: 1, checkpoints: 2 });
});
