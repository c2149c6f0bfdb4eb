import { expect, onTestFinished, test } from "vitest";
import { serveInspector } from "../../src/inspector/http/server.ts";
import { browserOfFile } from "../support/browsers-of-tests.ts";
import { visit } from "./support/browser.ts";
import { served } from "./support/seed.ts";

const browser = browserOfFile();

interface Line {
  readonly question: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers are JSON of many forms.
  readonly answer?: any;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Reads lines one at a time from a streamed answer. */
function linesOf(response: Response): () => Promise<Line | undefined> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return async () => {
    while (!text.includes("\n")) {
      const { done, value } = await reader.read();
      if (done) return undefined;
      text += value;
    }
    const end = text.indexOf("\n");
    const line = JSON.parse(text.slice(0, end)) as Line;
    text = text.slice(end + 1);
    return line;
  };
}

test("a live stream answers every question at once, then each whose answer changed, and ends with the inspector", async () => {
  const { store, get, inspector } = await served();
  const thread = store.thread("growing");
  await thread.put({ state: { n: 0 }, node: "first" });
  const questions = [
    "/api/history?thread=growing",
    "/api/thread?thread=nobody",
    "/api/delete",
    "/api/export",
    "/main.js",
  ];
  const response = await get("live", { questions });
  expect(response.headers.get("cache-control")).toBe("no-store");
  const next = linesOf(response);
  const lines = [await next(), await next(), await next(), await next(), await next()].sort(
    (left, right) => (left?.question ?? 0) - (right?.question ?? 0),
  );
  expect(lines.map((line) => line?.question)).toEqual([0, 1, 2, 3, 4]);
  expect(lines[0]?.answer.checkpoints).toMatchObject([{ node: "first" }]);
  for (const line of lines.slice(1)) expect(line?.error?.code).toBe("NOT_FOUND");
  await thread.put({ state: { n: 1 }, node: "second" });
  const changed = await next();
  expect(changed?.question).toBe(0);
  expect(changed?.answer.checkpoints).toMatchObject([{ node: "second" }, { node: "first" }]);
  await inspector.close();
  await expect(next()).rejects.toThrow();
});

test("a live stream refuses questions that are none, or too many", async () => {
  const { get, post } = await served();
  expect((await get("live", { questions: "not json" })).status).toBe(400);
  expect((await get("live", { questions: Array.from({ length: 33 }, () => "/api/threads") })).status).toBe(400);
  expect((await get("live", { surprise: "1" })).status).toBe(400);
  expect((await post("live", {})).status).toBe(405);
});

test("a page whose inspector went away says so, and says where to get the new address once another one answers", async () => {
  const { store, inspector } = await served();
  await store.thread("mine").put({ state: {} });
  const page = await visit(browser(), inspector);
  await page.locator("#threads .name").getByText("mine").waitFor();
  await inspector.close();
  await page.getByRole("alert").getByText("The inspector does not answer").waitFor();
  const again = await serveInspector({ store, url: "sqlite:test.db", port: inspector.port });
  onTestFinished(() => again.close());
  await page.getByRole("heading", { name: "This tab has no valid token" }).waitFor();
  await page.goto(again.address);
  await page.locator("#threads .name").getByText("mine").waitFor();
});

test("a page asks over one stream, and a page that nobody sees over none", async () => {
  const { store, inspector } = await served();
  await store.thread("mine").put({ state: {} });
  const page = await browser().newPage();
  onTestFinished(() => page.close());
  const streams = new Set<unknown>();
  page.on("request", (request) => {
    if (request.url().includes("/api/live?")) streams.add(request);
  });
  page.on("requestfailed", (request) => streams.delete(request));
  page.on("requestfinished", (request) => streams.delete(request));
  await page.goto(inspector.address);
  await page.locator("#threads .name").getByText("mine").click();
  await page.getByRole("tree", { name: "State" }).waitFor();
  await expect.poll(() => streams.size).toBe(1);
  const see = (visibility: string): Promise<unknown> =>
    page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "${visibility}", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"))`);
  await see("hidden");
  await expect.poll(() => streams.size).toBe(0);
  await store.thread("mine").put({ state: {}, node: "unseen" });
  await see("visible");
  await page.locator("#timeline .node").getByText("unseen").waitFor();
  await expect.poll(() => streams.size).toBe(1);
});
