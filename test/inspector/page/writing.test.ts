import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../../src/index.ts";
import { browserOfFile } from "../../support/browsers-of-tests.ts";
import { choose, goTo, visit } from "../support/browser.ts";
import { type State, seed, served } from "../support/seed.ts";

const browser = browserOfFile();

/** Goes on committing to a thread, side by side with whatever the page does, until it is told to stop. */
function writing(store: Store<State>, id: string): { readonly stop: () => Promise<number> } {
  let stopped = false;
  let committed = 0;
  const work = (async () => {
    for (; !stopped; committed += 1) {
      await store.thread(id).put({ update: { set: { n: committed } }, node: "count", next: ["count"] });
      await wait(15);
    }
    return committed;
  })();
  const stop = (): Promise<number> => {
    stopped = true;
    return work;
  };
  onTestFinished(async () => void (await stop()));
  return { stop };
}

const dialog = (page: Page, name: string) => page.getByRole("dialog", { name });

test("every action works on a store that is being written to, and takes nothing from the writer", async () => {
  const { store, inspector } = await served();
  await seed(store);
  const busy = store.thread("busy");
  const first = await busy.put({ state: { n: -1, plan: "a" }, source: "input", next: ["count"], workflow: "support" });
  const writer = writing(store, "busy");
  const page = await visit(browser(), inspector);

  await goTo(page, `#/thread/busy/${first.id}`);
  await page.getByRole("heading", { name: "step 0 · input" }).waitFor();
  await choose(page, "checkpoint", "Label …");
  await dialog(page, "Label this checkpoint").getByLabel("Label").fill("the start");
  await dialog(page, "Label this checkpoint").getByRole("button", { name: "Save" }).click();
  await page.getByText("The label is saved.").waitFor();

  await page.getByRole("button", { name: "Fork …" }).click();
  await expect.poll(() => dialog(page, "Fork here").getByLabel("Name").inputValue()).toBe("busy-fork");
  await dialog(page, "Fork here")
    .getByLabel(/^Edits/)
    .fill('{ "plan": "b" }');
  await dialog(page, "Fork here").getByRole("button", { name: "Fork" }).click();
  await page.getByRole("heading", { name: "busy-fork" }).waitFor();
  expect((await store.thread("busy-fork").latest())?.state).toEqual({ n: -1, plan: "b" });

  await goTo(page, "#/thread/busy");
  const pane = page.getByRole("region", { name: "Thread busy", exact: true });
  await expect.poll(async () => busy.count(), { timeout: 20_000 }).toBeGreaterThan(20);
  await pane.waitFor();
  await choose(page, "thread", "Prune …");
  await dialog(page, "Prune this thread")
    .getByText(/^Would delete/)
    .waitFor();
  await dialog(page, "Prune this thread").getByRole("button", { name: "Prune" }).click();
  await page.getByText(/^Deleted \d+ checkpoints/).waitFor();
  expect((await busy.get(first.id))?.label).toBe("the start");

  await choose(page, "thread", "Export …");
  const waiting = page.waitForEvent("download");
  await page.getByRole("dialog").getByRole("button", { name: "Download" }).click();
  const bundle = readFileSync(await (await waiting).path(), "utf8");
  const other = await served();
  expect(await other.store.import([bundle])).toMatchObject({ imported: 1 });

  await goTo(page, "#/thread/refund-4");
  await page.getByRole("region", { name: "Question of review" }).getByRole("button", { name: "Yes" }).click();
  await page.getByText("answered, for the runner to pick up").waitFor();

  await goTo(page, "#/thread/order-17");
  await page.getByRole("heading", { name: "order-17", exact: true }).waitFor();
  await choose(page, "thread", "Delete …");
  await dialog(page, "Delete this thread?").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(await store.thread("order-17").latest()).toBeUndefined();

  await page.getByRole("link", { name: "Storage" }).click();
  await page.getByRole("table", { name: /^What a prune of every thread/ }).waitFor();

  const committed = await writer.stop();
  expect((await busy.latest())?.state).toEqual({ n: committed - 1, plan: "a" });
  expect(await store.verify()).toEqual({ ok: true, faults: [] });
}, 120_000);
