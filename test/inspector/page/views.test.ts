import { expect, test } from "vitest";
import { browserOfFile } from "../../support/browsers-of-tests.ts";
import { goTo, visit } from "../support/browser.ts";
import { seed, served } from "../support/seed.ts";

const browser = browserOfFile();

test("threads are listed newest first, searched, and filtered by status and workflow; the filters are in the address", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser(), inspector);
  const threads = page.getByRole("listbox", { name: /^\d+ threads?/ });
  const names = (): Promise<string[]> => threads.locator(".name").allTextContents();
  await threads.getByRole("option").nth(3).waitFor();
  expect(await names()).toEqual(["order-17-again", "import-9", "refund-4", "order-17"]);
  await page.getByRole("button", { name: /^waiting/ }).click();
  await expect.poll(names).toEqual(["refund-4"]);
  await page.reload();
  await expect.poll(names).toEqual(["refund-4"]);
  await page.getByRole("button", { name: /^all/ }).click();
  await page.getByRole("combobox", { name: "Workflow" }).selectOption("import");
  await expect.poll(names).toEqual(["import-9"]);
  await page.getByRole("combobox", { name: "Workflow" }).selectOption("");
  await page.getByRole("searchbox", { name: "Search threads" }).fill("AGAIN");
  await expect.poll(names).toEqual(["order-17-again"]);
  expect(await threads.locator("mark").textContent()).toBe("again");
  await page.getByRole("searchbox", { name: "Search threads" }).fill("no such thread");
  await page.getByText("No thread matches.").waitFor();
  await page.getByRole("button", { name: "Show all" }).click();
  await expect.poll(names).toHaveLength(4);
});

test("rows say what happened: the question, the error, the change", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser(), inspector);
  const line = (thread: string) =>
    page
      .locator("#threads .thread")
      .filter({ has: page.getByText(thread, { exact: true }) })
      .locator(".line");
  await expect.poll(() => line("refund-4").textContent()).toBe("Refund 12 euros?");
  await expect.poll(() => line("import-9").textContent()).toBe("load: The file is gone");
  await expect.poll(() => line("order-17").textContent()).toBe("+1 message: Which parcel?");
  await goTo(page, "#/thread/order-17");
  const rows = page.locator("#timeline").getByRole("option");
  await expect.poll(() => rows.nth(1).locator(".line").textContent()).toBe("plan 2 → 1 item");
  await expect.poll(() => rows.nth(4).locator(".line").textContent()).toBe('plan ["look up", "answer"]');
});

test("a thread is a timeline with branches, forks, labels and durations, its nested graph folded", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser(), inspector);
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
  // How long a step took, and how long ago it was, are in lines of their own.
  expect(await rows.nth(4).locator(".took").textContent()).toBe("1 min");
  expect(await rows.nth(4).locator(".when").textContent()).toMatch(/^\d+[mh] ago$/);
  expect(await rows.nth(5).locator(".tag.fork").textContent()).toContain("order-17-again");
  await rows.nth(3).click();
  await expect.poll(() => rows.locator(".node").allTextContents()).toEqual(["ask", "input"]);
  await page.getByRole("link", { name: "to the outer graph" }).click();
  await rows.nth(5).click();
  await page.getByRole("region", { name: "Checkpoint" }).getByRole("link", { name: "↳ order-17-again" }).click();
  await page.getByRole("heading", { name: "order-17-again" }).waitFor();
  await page.getByRole("link", { name: "order-17", exact: true }).click();
  await page.getByRole("heading", { name: "order-17", exact: true }).waitFor();
});

test("a state is a tree that shows rich types as what they are, and is searched and copied", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/order-17?tab=state");
  const tree = page.getByRole("tree", { name: "State" });
  const row = (text: RegExp) => tree.getByRole("treeitem").filter({ hasText: text }).first();
  await row(/^total/).waitFor();
  const shown = (await tree.getByRole("treeitem").locator(":scope > :not(.row-actions)").allTextContents())
    .join(" ")
    .replace(/\s+/g, " ");
  for (const text of [
    /since ?Date ?1970-01-01T00:00:00\.000Z/,
    /total ?BigInt ?129900n/,
    /tools ?Set ?\{2\}/,
    /parcels ?Map ?\{1\}/,
    /"DHL-1" ?\{2\}/,
    /page ?URL ?https:\/\/example\.org\/order\/17/,
    /pattern ?RegExp ?\/\^DHL-\\d\+\$\/u/,
    /nothing ?undefined/,
  ]) {
    expect(shown).toMatch(text);
  }
  await row(/customer/).click();
  await expect.poll(() => row(/since/).count()).toBe(1);
  expect(await row(/customer/).textContent()).toContain('{ name: "Ada", since: 1970');
  await row(/parcels/).hover();
  await row(/parcels/)
    .getByRole("button", { name: "Copy parcels as JSON" })
    .click();
  await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toContain('"$": "map"');
  await page.getByRole("searchbox", { name: "Search the state" }).fill("ada");
  const found = page.getByRole("list", { name: "Places found" });
  await found.locator("mark").first().waitFor();
  await found.getByRole("button").first().click();
  await expect.poll(() => page.evaluate("document.activeElement.dataset.path")).toBe('["customer","name"]');
  expect(await page.locator('.tree-row[data-path=\'["customer","name"]\'] mark').textContent()).toBe("Ada");
});

test("changes are shown against the parent, against any other that is picked, and open as deep as they go", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/order-17?tab=changes");
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
  await page.getByRole("button", { name: "with its parent" }).click();
  await expect.poll(() => changes.count()).toBe(1);
  const deep = { one: { two: { three: { four: { five: "at the bottom" } } } }, text: "x".repeat(5_000) };
  await store.thread("order-17").put({ update: { set: { deep } }, node: "deepen" });
  await goTo(page, "#/thread/order-17?tab=changes");
  await page.getByRole("button", { name: "Open all of deep, after" }).click();
  const tree = page.getByRole("tree", { name: "deep, after" });
  for (const key of ["one", "two", "three", "four"]) {
    const row = tree
      .getByRole("treeitem")
      .filter({ hasText: new RegExp(`^[▸▾]?${key}`) })
      .first();
    await row.waitFor();
    if ((await row.getAttribute("aria-expanded")) === "false") await row.click();
  }
  await tree.getByText("at the bottom").last().waitFor();
});

test("writes are shown by task, and details with what runs next and the bytes", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/import-9?tab=writes");
  const task = page.getByRole("region", { name: "Task 0.0" });
  await task.getByText("The file is gone").first().waitFor();
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
  const page = await visit(browser(), inspector);
  await page.getByRole("link", { name: "Storage" }).click();
  await page.getByRole("img", { name: /^Bytes of checkpoints/ }).waitFor();
  expect(await page.locator(".sizes tbody tr").count()).toBe(4);
  expect(await page.locator(".kinds").textContent()).toContain("older checkpoints, sealed");
  const kinds = await page.locator(".kinds tbody th").allTextContents();
  expect(kinds.map((kind) => kind.trim())).toEqual(
    expect.arrayContaining(["packs", "tail", "values", "writes", "metadata", "index", "directory", "entries", "log"]),
  );
  expect(new Set(kinds).size).toBe(kinds.length);
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
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.setViewportSize({ width: 390, height: 800 });
  const plot = page.getByRole("img", { name: /^Bytes of checkpoints/ });
  await expect.poll(async () => (await plot.boundingBox())?.width).toBeGreaterThan(300);
  expect((await plot.boundingBox())?.height).toBe(200);
});

test("with --read-only there is nothing to change", async () => {
  const { store, inspector } = await served({ readOnly: true });
  await seed(store);
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/refund-4");
  await page.getByRole("region", { name: "Question of review" }).waitFor();
  await page.getByText("read-only").waitFor();
  for (const name of ["Fork …", "Yes", "Answer"]) expect(await page.getByRole("button", { name }).count()).toBe(0);
  for (const menu of ["More with this thread", "More with this checkpoint"]) {
    await page.getByRole("button", { name: menu }).click();
    const entries = await page.getByRole("menuitem").allTextContents();
    expect(entries.filter((entry) => !/^(?:Copy|Compare)/.test(entry))).toEqual([]);
    await page.keyboard.press("Escape");
  }
  await page.getByRole("link", { name: "Storage" }).click();
  await page.getByRole("table", { name: /^What a prune of every thread would give back/ }).waitFor();
  for (const name of ["Prune …", "Export …"]) expect(await page.getByRole("button", { name }).count()).toBe(0);
});

test("on a phone one thing is shown at a time, with a way back; dark as the system is", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const page = await visit(browser(), inspector, { width: 390, dark: true });
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "Threads" }).click();
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
  expect(await ground()).toBe("rgb(21, 23, 26)");
  await page.getByRole("button", { name: "Theme" }).click();
  expect(await ground()).toBe("rgb(251, 251, 250)");
});

test("the page has the system's theme until the reader chooses another", async () => {
  const { inspector } = await served();
  const page = await visit(browser(), inspector, { dark: true });
  const ground = (): Promise<string> => page.evaluate("getComputedStyle(document.body).backgroundColor");
  const [dark, light] = ["rgb(21, 23, 26)", "rgb(251, 251, 250)"];
  await expect.poll(ground).toBe(dark);
  for (const [theme, colour] of [
    ["light", light],
    ["dark", dark],
    ["system", dark],
  ]) {
    await page.evaluate(`document.documentElement.setAttribute("data-theme", "${theme}")`);
    expect(await ground(), theme).toBe(colour);
  }
});
