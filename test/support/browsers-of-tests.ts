import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { launchBrowser } from "./chromium.ts";

/** Launches a browser for the tests of the file that calls this, and closes it after the last; the result returns it. */
export function browserOfFile(...flags: readonly string[]): () => Browser {
  let browser: Browser | undefined;
  // Where Chromium is missing, it is installed first.
  beforeAll(async () => {
    browser = await launchBrowser(...flags);
  }, 300_000);
  afterAll(() => browser?.close());
  return () => browser as Browser;
}
