import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { goTo, launchBrowser, visit } from "./browser.ts";
import { seed, served } from "./seed.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
}, 300_000);
afterAll(() => browser?.close());

test("threads are listed newest first, searched, and filtered by status and workflow", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser, inspector);
  const threads = page.getByRole("listbox", { name: /^\d+ threads?/ });
  const names = (): Promise<string[]> => threads.locator(".name").allTextContents();
  await threads.getByRole("option").nth(3).waitFor();
  expect(await names()).toEqual(["order-17-again", "import-9", "refund-4", "order-17"]);
  await page.getByRole("button", { name: /^waiting/ }).click();
  await expect.poll(names).toEqual(["refund-4"]);
  await page.getByRole("button", { name: /^all/ }).click();
  await page.getByRole("combobox", { name: "Workflow" }).selectOption("import");
  await expect.poll(names).toEqual(["import-9"]);
  await page.getByRole("combobox", { name: "Workflow" }).selectOption("");
  await page.getByRole("searchbox", { name: "Search threads" }).fill("AGAIN");
  await expect.poll(names).toEqual(["order-17-again"]);
});

test("a thread is a timeline with branches, forks, labels and durations, its nested graph folded", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser, inspector);
  await goTo(page, "#/thread/order-17");
  const timeline = page.getByRole("listbox", { name: /^Checkpoints/ });
  const rows = timeline.getByRole("option");
  await rows.nth(5).waitFor();
  expect(await rows.locator(".node").allTextContents()).toEqual([
    "ask",
    "update",
    "look-up",
    "look-up / 2.0",
    "plan",
    "input",
  ]);
  // Two lanes: the branch, and what it left behind, which meet at the plan.
  expect(await rows.nth(2).locator("circle").getAttribute("cx")).not.toBe(
    await rows.nth(0).locator("circle").getAttribute("cx"),
  );
  expect(await rows.nth(4).locator("path.lane").count()).toBe(3);
  expect(await rows.nth(4).locator(".tag").textContent()).toBe("the plan");
  expect(await rows.nth(4).locator(".took").textContent()).toBe("1 min");
  expect(await rows.nth(5).locator("a.fork").textContent()).toContain("order-17-again");
  await rows.nth(3).click();
  await expect.poll(() => rows.locator(".node").allTextContents()).toEqual(["ask", "input"]);
  await page.getByRole("link", { name: "to the outer graph" }).click();
  await rows.nth(5).waitFor();
  await rows.nth(5).locator("a.fork").click();
  await page.getByRole("heading", { name: "order-17-again" }).waitFor();
  await page.getByRole("link", { name: "order-17", exact: true }).click();
  await page.getByRole("heading", { name: "order-17", exact: true }).waitFor();
});

test("failures and questions are marked", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser, inspector);
  await goTo(page, "#/thread/import-9");
  await page.locator("#timeline .tag.failed").waitFor();
  // LangGraph's questions are writes of tasks.
  const asked = await store.thread("langgraph").put({ state: {}, node: "agent" });
  await store.thread("langgraph").putWrites(asked.id, {
    task: "1",
    writes: [{ channel: "__interrupt__", index: -3, value: { question: "Go on?" } }],
  });
  await goTo(page, "#/thread/langgraph");
  await page.locator("#timeline .tag.waiting").waitFor();
  await goTo(page, "#/thread/refund-4");
  await page.getByRole("heading", { name: "refund-4" }).waitFor();
  await page.locator("#timeline .tag.waiting").waitFor();
  await page.getByRole("region", { name: "Question of review" }).getByText("Refund 12 euros?").waitFor();
});

test("a state is a tree that shows rich types as what they are, and is searched and copied", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser, inspector);
  await goTo(page, "#/thread/order-17");
  const tree = page.getByRole("tree", { name: "State" });
  const row = (text: RegExp) => tree.getByRole("treeitem").filter({ hasText: text }).first();
  await row(/^total/).waitFor();
  const shown = (await tree.getByRole("treeitem").allTextContents()).map((text) =>
    text
      .replace(/\s+/g, " ")
      .replace(/ ?copy ?$/, "")
      .trim(),
  );
  for (const text of [
    /since ?Date ?1970-01-01T00:00:00\.000Z/,
    /total ?BigInt ?129900n/,
    /tools ?Set ?2/,
    /parcels ?Map ?1/,
    /dimensions ?Float32Array ?0000803f/,
    /page ?URL ?https:\/\/example\.org\/order\/17/,
    /pattern ?RegExp ?\/\^DHL-\\d\+\$\/u/,
    /nothing ?undefined/,
  ]) {
    expect(
      shown.some((line) => text.test(line)),
      String(text),
    ).toBe(true);
  }
  await row(/customer/).click();
  await expect.poll(() => row(/since/).count()).toBe(0);
  await row(/parcels/).hover();
  await row(/parcels/)
    .getByRole("button", { name: "Copy parcels as JSON" })
    .click();
  await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toContain('"$": "map"');
  await page.getByRole("searchbox", { name: "Search the state" }).fill("ada");
  await page.getByRole("list", { name: "Places found" }).getByRole("button").first().click();
  await expect.poll(() => page.evaluate("document.activeElement.dataset.path")).toBe('["customer","name"]');
});

test("changes are shown against the parent, and against any other that is picked", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser, inspector);
  await goTo(page, "#/thread/order-17");
  await page.getByRole("tab", { name: "Changes" }).click();
  const changes = page.locator(".changes > li");
  await changes.first().waitFor();
  expect(await changes.locator(".path").allTextContents()).toEqual(["+ messages[1]"]);
  const added = (await changes.locator(".new").textContent())?.replaceAll(/\s+/g, " ");
  expect(added).toMatch(/role ?"assistant" ?text ?"Which parcel\?"/);
  const rows = page.locator("#timeline").getByRole("option");
  await rows.nth(0).click();
  await rows
    .nth(5)
    .locator(".number")
    .click({ modifiers: ["Shift"] });
  await expect.poll(() => changes.locator(".path").allTextContents()).toEqual(["+ messages[1]", "+ plan"]);
  await page.getByRole("combobox", { name: "Compared with" }).selectOption("");
  await expect.poll(() => changes.count()).toBe(1);
});

test("writes are shown by task, and details with what runs next and the bytes", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser, inspector);
  await goTo(page, "#/thread/import-9?tab=writes");
  const task = page.getByRole("region", { name: "Task 0.0" });
  await task.getByText("The file is gone").waitFor();
  expect(await task.locator(".tag").textContent()).toBe("error");
  await page.getByRole("tab", { name: "Details" }).click();
  const facts = page.locator("#tab-panel .facts");
  await facts.waitFor();
  expect(await facts.textContent()).toMatch(/nextload, check/);
  expect(await facts.textContent()).toMatch(/bytes\d+ bytes: the whole state/);
});

test("storage shows bytes by kind and by thread, growth, and what a prune would give back", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser, inspector);
  await page.getByRole("link", { name: "Storage" }).click();
  await page.getByRole("img", { name: /^Bytes of checkpoints/ }).waitFor();
  expect(await page.locator(".sizes tbody tr").count()).toBe(4);
  expect(await page.locator(".kinds").textContent()).toContain("older checkpoints, sealed");
  const prunes = page.getByRole("table", { name: /^What a prune of every thread would give back/ });
  const rows = await prunes.locator("tbody tr").allTextContents();
  expect(rows[0]?.replaceAll(/\s+/g, " ")).toMatch(/^ ?the newest, and what is labelled ?[\d.]+ (bytes|kB) ?6 ?3 ?$/);
  expect(rows).toHaveLength(3);
  await page.getByRole("button", { name: "Export …" }).click();
  const waiting = page.waitForEvent("download");
  await page.getByRole("dialog", { name: "Export every thread" }).getByRole("button", { name: "Download" }).click();
  expect((await waiting).suggestedFilename()).toBe("threadmark.bundle");
  await page.getByRole("button", { name: "Prune …" }).click();
  await page.getByLabel("Keep the newest").fill("1");
  await page.getByText(/^Would delete \d+ checkpoints of 3 threads and give back/).waitFor();
});

test("with --read-only there is nothing to change", async () => {
  const { store, inspector } = await served({ readOnly: true });
  await seed(store);
  const page = await visit(browser, inspector);
  await goTo(page, "#/thread/refund-4");
  await page.getByRole("region", { name: "Question of review" }).waitFor();
  await page.getByText("read-only").waitFor();
  const actions = ["Fork …", "Label …", "Delete …", "Prune …", "Answer …", "Export …"];
  for (const name of actions) expect(await page.getByRole("button", { name }).count()).toBe(0);
  await page.getByRole("link", { name: "Storage" }).click();
  await page.getByRole("table", { name: /^What a prune of every thread would give back/ }).waitFor();
  for (const name of actions) expect(await page.getByRole("button", { name }).count()).toBe(0);
});

test("everything can be reached with the keyboard", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser, inspector);
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
});

test("it has landmarks and names for those who do not see it", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser, inspector);
  await goTo(page, "#/thread/refund-4");
  await page.getByRole("tree", { name: "State" }).getByRole("treeitem").first().waitFor();
  for (const [role, name] of [
    ["banner", undefined],
    ["navigation", "Views"],
    ["main", undefined],
    ["search", undefined],
    ["region", "Threads"],
    ["region", "Thread refund-4"],
    ["region", "Checkpoint"],
    ["tablist", "Parts of the checkpoint"],
    ["tabpanel", "State"],
  ] as const) {
    expect([role, await page.getByRole(role, name === undefined ? {} : { name, exact: true }).count()]).toEqual([
      role,
      1,
    ]);
  }
  const unnamed = await page.evaluate(`[...document.querySelectorAll("button, a, input, select, textarea")]
    .filter((one) => one.textContent.trim() === "" && !one.ariaLabel && !one.closest("label"))
    .map((one) => one.outerHTML)`);
  expect(unnamed).toEqual([]);
});

test("on a phone one thing is shown at a time, with a way back; dark as the system is", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser, inspector, { width: 390, dark: true });
  await page.locator("#threads").getByRole("option").filter({ hasText: "refund-4" }).click();
  await page.locator("#timeline").getByRole("option").first().waitFor();
  expect(await page.locator("#threads").isVisible()).toBe(false);
  await page.locator("#timeline").getByRole("option").first().click();
  await page.getByRole("tree", { name: "State" }).waitFor();
  expect(await page.locator("#timeline").isVisible()).toBe(false);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  await page.getByRole("link", { name: "Back to the timeline" }).click();
  await page.getByRole("link", { name: "Back to the threads" }).click();
  await page.locator("#threads").waitFor();
  const ground = (): Promise<string> => page.evaluate("getComputedStyle(document.body).backgroundColor");
  expect(await ground()).toBe("rgb(22, 24, 27)");
  await page.getByRole("button", { name: "Theme" }).click();
  expect(await ground()).toBe("rgb(251, 251, 250)");
});
