import type { Browser, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import type { Inspector } from "../../../src/inspector/http/server.ts";

interface VisitOptions {
  readonly width?: number;
  readonly dark?: boolean;
}

/** Opens the inspector as its printed address is opened. When the test ends, the page must have had nothing to complain of. */
export async function visit(browser: Browser, inspector: Inspector, options: VisitOptions = {}): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: 800 },
    colorScheme: options.dark === true ? "dark" : "light",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  const own = `http://127.0.0.1:${inspector.port}/`;
  page.on("console", (message) => {
    // The browser itself reports every answer that is an error; the page shows those.
    if (["error", "warning"].includes(message.type()) && !message.text().startsWith("Failed to load resource")) {
      complaints.push(message.text());
    }
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    // A picture that the page itself made of bytes is no request to anybody.
    if (
      !request
        .url()
        .replace(/^blob:/, "")
        .startsWith(own)
    )
      complaints.push(`request to ${request.url()}`);
  });
  onTestFinished(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });
  await page.goto(inspector.address);
  await page.waitForURL(own);
  return page;
}

/** Chooses an entry of the menu with this name. */
export async function choose(page: Page, menu: "thread" | "checkpoint", entry: string): Promise<void> {
  await page.getByRole("button", { name: `More with this ${menu}` }).click();
  await page.getByRole("menuitem", { name: entry }).click();
}

/** Goes to a place of the page by its address. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
}
