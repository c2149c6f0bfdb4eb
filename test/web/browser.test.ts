import { readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { launchBrowser } from "../support/chromium.ts";
import { bundled } from "./bundle.ts";

const page = '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/main.js"></script>';

test("in a browser, a store and a graph work in memory, without anything of Node", async () => {
  const folder = await bundled("test/web/page-entry.ts");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const server = createServer((request, response) => {
    const isScript = request.url?.endsWith(".js") ?? false;
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? readFileSync(join(folder, request.url ?? "")) : page);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());

  const tab = await browser.newPage();
  const faults: string[] = [];
  tab.on("pageerror", (error) => faults.push(String(error)));
  await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const seen = await tab.evaluate("visit()");
  expect(faults).toEqual([]);
  expect(seen).toEqual({
    messages: 101,
    last: "99 ü 😀",
    at: true,
    bytes: [1, 2],
    fork: ["another"],
    refused: true,
    verified: { ok: true, faults: [] },
    state: { count: 20 },
  });
});
