import AxeBuilder from "axe-core";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { browserOfFile } from "../../support/browsers-of-tests.ts";
import { seedChat, seedFailures, seedQuestions, seedRefund } from "../support/agents.ts";
import { goTo, visit } from "../support/browser.ts";
import { seed, served } from "../support/seed.ts";

const browser = browserOfFile();

test("a link to an old checkpoint scrolls to it and marks it", async () => {
  const { store, inspector } = await served();
  const thread = store.thread("long");
  let wanted = "";
  for (let n = 0; n < 400; n += 1) {
    const { id } = await thread.put({ state: { n }, node: `step-${n}` });
    if (n === 37) wanted = id;
  }
  const page = await visit(browser(), inspector);
  await goTo(page, `#/thread/long/${wanted}`);
  const row = page.locator("#timeline").getByRole("option", { name: /^Step 37 / });
  await row.waitFor();
  await expect.poll(() => row.getAttribute("aria-selected")).toBe("true");
  const [box, list] = [await row.boundingBox(), await page.locator("#timeline").boundingBox()];
  expect(box!.y).toBeGreaterThanOrEqual(list!.y);
  expect(box!.y + box!.height).toBeLessThanOrEqual(list!.y + list!.height);
  // j and k move from there, and a step is jumped to by its number.
  await page.keyboard.press("j");
  await page.getByRole("heading", { name: "step 36 · step-36" }).waitFor();
  await page.keyboard.press("k");
  await page.keyboard.press("k");
  await page.getByRole("heading", { name: "step 38 · step-38" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.type("399");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "step 399 · step-399" }).waitFor();
  const selected = (step: number) =>
    page.locator("#timeline").getByRole("option", { name: new RegExp(`^Step ${step} `), selected: true });
  await selected(399).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.type("200");
  await page.keyboard.press("Enter");
  await selected(200).waitFor();
  await page.getByRole("slider", { name: /^Replay/ }).fill("100");
  await page.getByRole("heading", { name: "step 100 · step-100" }).waitFor();
  await page.keyboard.press("g");
  await page.getByLabel("Jump to a step").fill("1000");
  await page.keyboard.press("Enter");
  await page.getByText("Its steps are 0 to 399.").waitFor();
});

test("what is missing says so, with a way on", async () => {
  const { store, inspector } = await served();
  const page = await visit(browser(), inspector);
  await page.getByRole("heading", { name: "This store is empty" }).waitFor();
  await page.getByText("No threads yet.").waitFor();
  await goTo(page, "#/thread/nobody");
  await page.getByText('There is no thread "nobody".').waitFor();
  await goTo(page, "#/inbox");
  await page.getByRole("heading", { name: "Nobody waits" }).waitFor();
  await goTo(page, "#/failures");
  await page.getByRole("heading", { name: "Nothing failed" }).waitFor();
  await store.thread("t").put({ state: {} });
  await goTo(page, "#/thread/t/no-such-checkpoint");
  await page.getByRole("heading", { name: "There is no such checkpoint" }).waitFor();
  await page.getByRole("link", { name: "Show the newest of the thread" }).click();
  await page.getByRole("heading", { name: "step 0" }).waitFor();
});

test("an idle page asks nothing, and opens with few requests", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await browser().newPage();
  let requests = 0;
  page.on("request", () => {
    requests += 1;
  });
  await page.goto(inspector.address);
  await page.locator("#threads").getByRole("option").nth(3).waitFor();
  await page.waitForTimeout(1_500);
  expect(requests).toBeLessThan(10);
  const before = requests;
  await page.waitForTimeout(5_000);
  expect(requests - before).toBe(0);
  await page.close();
});

test("Ctrl K finds threads, labels and texts in states, and leads there", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser(), inspector);
  await page.locator("#threads").getByRole("option").nth(3).waitFor();
  await page.getByRole("link", { name: "Storage" }).focus();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Search everything" }).waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Storage");
  await page.keyboard.press("Control+k");
  const found = page.getByRole("dialog", { name: "Search everything" }).getByRole("option");
  await page.keyboard.type("refund-4");
  await expect.poll(() => found.first().textContent()).toContain("refund-4");
  await page.getByRole("combobox", { name: "Search everything" }).fill("the plan");
  await expect.poll(() => found.first().textContent()).toContain("step 1");
  await page.getByRole("combobox", { name: "Search everything" }).fill("which parcel");
  await expect.poll(() => found.first().textContent()).toContain("messages[1].text");
  await page.getByText(/Looked through 4 of 4 threads/).waitFor();
  await page.keyboard.press("Enter");
  await expect.poll(() => page.evaluate("document.activeElement.dataset.path")).toBe('["messages",1,"text"]');
});

test("blame says which step made a value what it is", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/order-17?tab=state");
  const tree = page.getByRole("tree", { name: "State" });
  await tree.getByRole("treeitem").filter({ hasText: /plan/ }).first().focus();
  await page.keyboard.press("b");
  const line = page.locator(".blame");
  await line.getByRole("link", { name: "step 2 · update" }).waitFor();
  expect(await line.textContent()).toContain('before: ["look up", "answer"]');
  await tree
    .getByRole("treeitem")
    .filter({ hasText: /^total/ })
    .first()
    .focus();
  await page.keyboard.press("b");
  await line.getByRole("link", { name: "step 0 · input" }).waitFor();
});

test("a fork is compared with its source, aligned by step, with the difference of their heads", async () => {
  const { store, inspector } = await served();
  await seed(store);
  await store.thread("order-17-again").put({ update: { set: { total: 5n } }, node: "plan" });
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/order-17-again");
  await page.getByRole("link", { name: "compare" }).click();
  const rows = page.locator("#compared").getByRole("option");
  await rows.first().waitFor();
  expect(await page.locator(".compare").textContent()).toContain("They share 1 checkpoint.");
  expect(await rows.last().locator(".compare-row.same").count()).toBe(1);
  // The edit of the fork has the step of the checkpoint that it was made at, and a row of its own.
  await expect
    .poll(() => rows.nth(-2).locator(".side").last().locator(".line").textContent())
    .toBe("total 129900n → 0n");
  await page.locator(".compare-diff .path").getByText("total").waitFor();
});

test("the graph and the times of a thread are drawn from its history; a node filters its steps", async () => {
  const { store, inspector } = await served();
  await seedRefund(store);
  await seed(store);
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/refund-19?shape=graph");
  await page.getByRole("button", { name: "approve next" }).waitFor();
  await page.getByRole("button", { name: /^check 1×/ }).click();
  const rows = page.locator("#timeline .step:not(.dimmed) .node");
  await expect.poll(() => rows.allTextContents()).toContain("check");
  expect(await page.locator("#timeline .step.dimmed").count()).toBe(2);
  await goTo(page, "#/thread/order-17?shape=time");
  const spans = page.locator("#times").getByRole("option");
  await expect.poll(() => spans.count()).toBe(7);
  expect(await spans.nth(1).textContent()).toContain("plan");
  await spans.nth(1).click();
  await page.getByRole("heading", { name: "step 1 · plan" }).waitFor();
});

async function faultsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(AxeBuilder.source);
  const { violations } = await page.evaluate<{
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
  }>("axe.run(document, { resultTypes: ['violations'] })");
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary.slice(0, 200)}`),
  );
}

test.each(["light", "dark"])(
  "axe finds nothing to complain of, in the %s",
  async (scheme) => {
    const { store, inspector } = await served();
    await seed(store);
    await seedChat(store);
    await seedRefund(store);
    await seedFailures(store, 2);
    await seedQuestions(store);
    const page = await visit(browser(), inspector, { dark: scheme === "dark" });
    for (const hash of [
      "#/",
      "#/thread/weather-chat",
      "#/thread/refund-19?tab=state",
      "#/thread/article-0?tab=changes",
      "#/thread/order-17?shape=graph&tab=details",
      "#/thread/order-17?shape=time&tab=writes",
      "#/inbox",
      "#/failures",
      "#/storage",
      "#/compare/order-17?other=order-17-again",
    ]) {
      await goTo(page, hash);
      await page.waitForTimeout(900);
      expect([hash, await faultsOf(page)]).toEqual([hash, []]);
    }
  },
  120_000,
);

test("everything can be reached with the keyboard", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser(), inspector);
  await page.locator("#threads").getByRole("option").nth(3).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("order-17");
  await expect.poll(() => page.locator("#threads .name").count()).toBe(2);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.locator("#timeline").getByRole("option").nth(5).waitFor();
  await page.locator("#timeline").focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "step 0 · input" }).waitFor();
  await page.keyboard.press("2");
  await page.getByRole("tab", { name: "State", selected: true }).waitFor();
  await page.getByRole("tab", { name: "State" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.getByRole("tab", { name: "Changes", selected: true }).waitFor();
  await page.keyboard.press("ArrowLeft");
  const tree = page.getByRole("tree", { name: "State" });
  await tree.getByRole("treeitem").first().focus();
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => tree.getByRole("treeitem").first().getAttribute("aria-expanded")).toBe("false");
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => tree.getByRole("treeitem").first().getAttribute("aria-expanded")).toBe("true");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  const bar = page.getByRole("separator", { name: "Width of the timeline" });
  const before = await page.locator(".thread-pane").evaluate((pane) => pane.clientWidth);
  await bar.focus();
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => page.locator(".thread-pane").evaluate((pane) => pane.clientWidth)).toBe(before + 16);
  await page.keyboard.press("i");
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
});
