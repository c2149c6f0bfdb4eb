import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Page } from "playwright-core";
import { open } from "../src/index.ts";
import { serveInspector } from "../src/inspector/http/server.ts";
import { seedChat, seedFailures, seedQuestions, seedRefund } from "../test/inspector/agents.ts";
import { type State, seed } from "../test/inspector/seed.ts";

/** Takes the documentation's pictures of the inspector, on the store that its tests use. */
const images = fileURLToPath(new URL("../docs/images/", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "threadmark-screenshots-"));
const store = await open<State>(`sqlite:${join(directory, "agent.db")}`);
await seed(store);
await seedFailures(store);
await seedQuestions(store);
await seedRefund(store);
await seedChat(store);
const inspector = await serveInspector({ store, url: "sqlite:agent.db" });
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });

const wide = { width: 1280, height: 720 };
const talk = (page: Page): Promise<void> => page.getByText("It is 4 °C in Reykjavík").last().waitFor();
await picture("thread", "#/thread/weather-chat", wide, "light", talk);
await picture("thread-dark", "#/thread/weather-chat", wide, "dark", talk);
await picture("failure", "#/thread/article-0", wide, "dark", async (page) => {
  await page.getByRole("button", { name: "the code to resume" }).click();
});
await picture("changes", "#/thread/order-17?tab=changes", wide, "light", async (page) => {
  await page.locator(".changes > li").first().waitFor();
});
await picture("graph", "#/thread/weather-chat?shape=graph", wide, "light", talk);
await picture("inbox", "#/inbox", { width: 1000, height: 720 }, "light", async (page) => {
  await page.getByRole("button", { name: "replace" }).waitFor();
});
await picture("storage", "#/storage", { width: 1160, height: 900 }, "light", async (page) => {
  await page.getByRole("table", { name: /^What a prune/ }).waitFor();
});
await picture("phone", "#/", { width: 390, height: 720 }, "light", async (page) => {
  await page.getByRole("heading", { name: "Overview" }).waitFor();
});

await browser.close();
await inspector.close();
await store.close();
rmSync(directory, { recursive: true, force: true });

async function picture(
  name: string,
  hash: string,
  viewport: { readonly width: number; readonly height: number },
  colorScheme: "light" | "dark",
  ready: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({ viewport, colorScheme });
  const page = await context.newPage();
  await page.goto(inspector.address);
  await page.waitForURL(`http://127.0.0.1:${inspector.port}/`);
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await ready(page);
  // Lines of rows that take longer come a moment later.
  await page.waitForTimeout(1_000);
  await page.screenshot({ path: join(images, `${name}.png`) });
  await context.close();
}
