import { randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { browserOfFile } from "../../support/browsers-of-tests.ts";
import { goTo, visit } from "../support/browser.ts";
import { served } from "../support/seed.ts";

const browser = browserOfFile();

test("storage tells of encryption, state versions, the last sweep and the last backup; erased values say so", async () => {
  const store = await open<Record<string, unknown>>("memory:", {
    encryption: { current: "2026-11", keys: { "2026-11": randomBytes(32) }, hideIds: true },
    schema: { version: 2, migrate: { 1: (state) => state as object } },
    retention: { checkpoints: { keepLast: 2 }, every: "1h" },
  });
  const { inspector } = await served({ store });
  const thread = store.thread("alice");
  for (let n = 0; n < 3; n += 1) await thread.put({ state: { n, email: "alice@example.com" } });
  const page = await visit(browser(), inspector);
  await goTo(page, "#/storage");
  const care = page.getByRole("table", { name: "How the store is looked after" });
  const facts = async (): Promise<string> => (await care.locator("tr").allTextContents()).join("\n");
  await expect.poll(facts).toContain("last backupnone noted");
  await store.sweep();
  await store.backup(new PassThrough().resume());
  await thread.erase(["email"]);
  await page.getByRole("button", { name: "Measure again" }).click();
  await expect.poll(facts).toMatch(/last backup.*: 1 thread, .*of one moment/);
  expect(await facts()).toContain('encryptionkey "2026-11", ids hidden');
  expect(await facts()).toContain("state versionsversion 2: 1 thread");
  expect(await facts()).toMatch(/last sweep.*0 threads, 1 checkpoint, .*; next /);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await care.getByText(/of one moment/).isVisible()).toBe(true);
  await page.setViewportSize({ width: 1280, height: 800 });
  await goTo(page, "#/thread/alice");
  await page.getByTitle("The value that was here was erased, in the whole history.").first().waitFor();
});
