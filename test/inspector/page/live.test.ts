import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { browserOfFile } from "../../support/browsers-of-tests.ts";
import { goTo, visit } from "../support/browser.ts";
import { type State, served } from "../support/seed.ts";

const browser = browserOfFile();

test("a store that is being written to is shown as it changes", async () => {
  const { store, inspector } = await served();
  const thread = store.thread("growing");
  await thread.put({ state: { n: 0 }, source: "input", next: ["count"] });
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/growing");
  const first = page.locator("#timeline").getByRole("option", { name: /^Step/ }).first();
  const value = page.getByRole("tree", { name: "State" }).getByRole("treeitem").first();
  await expect.poll(() => value.textContent()).toContain("0");
  for (let n = 1; n <= 3; n += 1) {
    await thread.put({ update: { set: { n } }, node: `count-${n}`, next: n < 3 ? ["count"] : [] });
    // The head is followed: timeline, state and status.
    await expect.poll(() => first.textContent(), { timeout: 20_000 }).toContain(`count-${n}`);
    await expect.poll(() => value.textContent(), { timeout: 20_000 }).toContain(String(n));
  }
  await page.locator(".thread-pane .status.done").waitFor();
  await store.thread("newcomer").put({ state: {} });
  await page.locator("#threads .name").getByText("newcomer").waitFor();
  await store.thread("newcomer").delete();
  await expect.poll(() => page.locator("#threads .name").allTextContents(), { timeout: 20_000 }).toEqual(["growing"]);
});

test("what was scrolled to stays when new checkpoints come, and a chosen one stays chosen", async () => {
  const { store, inspector } = await served();
  const thread = store.thread("long");
  for (let n = 0; n < 150; n += 1) await thread.put({ state: { n }, node: `step-${n}` });
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/long");
  const option = (step: number) =>
    page.locator("#timeline").getByRole("option", { name: new RegExp(`^Step ${step} `) });
  await page.locator("#timeline").focus();
  // A single press reaches the first step, however many there are.
  await page.keyboard.press("End");
  await option(0).waitFor();
  await option(0).click();
  await page.getByRole("heading", { name: "step 0 · step-0" }).waitFor();
  await thread.put({ state: { n: 150 }, node: "step-150" });
  await page.locator(".thread-pane .about").getByText("151 checkpoints").waitFor();
  await expect.poll(() => option(0).getAttribute("aria-selected"), { timeout: 20_000 }).toBe("true");
  expect(await page.getByRole("heading", { name: "step 0 · step-0" }).count()).toBe(1);
});

test("ten thousand threads, ten thousand checkpoints and a state of five megabytes are shown in parts", async () => {
  const store = await open<State>("memory:");
  const puts: Promise<unknown>[] = [];
  for (let n = 0; n < 10_000; n += 1)
    puts.push(store.thread(`thread-${n}`).put({ state: { n }, createdAt: 1_000_000 + n }));
  await Promise.all(puts);
  const long = store.thread("long");
  await long.put({ state: { log: [] }, source: "input" });
  for (let n = 1; n < 10_000; n += 500) {
    await Promise.all(
      Array.from({ length: Math.min(500, 10_000 - n) }, (_, i) =>
        long.put({ update: { append: { log: [n + i] } }, node: "add" }),
      ),
    );
  }
  const documents = Array.from({ length: 5_000 }, (_, n) => ({
    n,
    title: `Document ${n}`,
    text: "lorem ipsum dolor ".repeat(60),
  }));
  await store.thread("big").put({ state: { documents, text: "x".repeat(100_000) } });
  const { inspector } = await served({ store });
  const page = await visit(browser(), inspector);

  await page.locator(".foot").getByText("10,002 threads").waitFor();
  expect(await page.locator("#threads .row").count()).toBeLessThan(60);
  await page.locator("#threads").focus();
  await page.keyboard.press("End");
  await page.locator("#threads .name").getByText("thread-0", { exact: true }).waitFor();
  await page.getByRole("searchbox", { name: "Search threads" }).fill("thread-4321");
  await page.locator("#threads .name").getByText("thread-4321", { exact: true }).waitFor();

  await goTo(page, "#/thread/long");
  await page.locator("#timeline").getByRole("option").first().waitFor();
  await page.locator("#timeline").focus();
  await page.keyboard.press("End");
  await page.locator("#timeline .node").getByText("input", { exact: true }).waitFor();
  expect(await page.locator("#timeline .row").count()).toBeLessThan(60);

  const answers: number[] = [];
  page.on("response", async (response) => answers.push((await response.body().catch(() => Buffer.alloc(0))).length));
  await goTo(page, "#/thread/big");
  const tree = page.getByRole("tree", { name: "State" });
  await tree.getByRole("treeitem").first().click();
  await expect
    .poll(
      async () => {
        await tree.evaluate((box) => box.scrollTo(0, box.scrollHeight));
        return tree.locator(`[data-path='["documents",299]']`).count();
      },
      { timeout: 20_000, interval: 200 },
    )
    .toBe(1);
  expect(Math.max(...answers)).toBeLessThan(500_000);
  await page.getByRole("searchbox", { name: "Search the state" }).fill("Document 4321");
  await page.getByRole("list", { name: "Places found" }).getByRole("button").first().click();
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toContain("Document 4321");
  expect(await tree.getByRole("treeitem").count()).toBeLessThan(200);
}, 120_000);
