import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { browserOfFile } from "../../support/browsers-of-tests.ts";
import { goTo, visit } from "../support/browser.ts";
import { served } from "../support/seed.ts";

const browser = browserOfFile();

/** Writes an application that asks, prints, and fails once when it is told to. */
function application(url: string, directory: string): string {
  const source = (path: string): string => JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href);
  const file = join(directory, "flow.mjs");
  writeFileSync(
    file,
    `import { open } from ${source("index.ts")};
import { END, graph, START } from ${source("runtime/index.ts")};
const store = await open(${JSON.stringify(url)});
export const flow = graph("asking")
  .node("ask", (_, ctx) => ({ answer: ctx.interrupt({ question: "Go on?" }) }))
  .node("print", ({ answer }) => { console.log("heard", JSON.stringify(answer)); return { printed: true }; })
  .edge(START, "ask").edge("ask", "print").edge("print", END)
  .compile({ store });
if (process.argv[2] === "start") { await flow.run({}, { thread: "t" }); await store.close(); }
`,
  );
  return file;
}

test("with --app an answered thread is run on from the page, and what it prints is shown", async () => {
  let file = "";
  const { store, inspector } = await served({
    app: (url, directory) => {
      file = application(url, directory);
      return file;
    },
  });
  execFileSync(process.execPath, [file, "start"]);
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/t");
  const panel = page.getByRole("region", { name: "Run" });
  await panel.getByText("with flow.mjs").waitFor();
  await page.getByRole("region", { name: "Question of ask" }).getByRole("button", { name: "Yes" }).click();
  await page.getByText("answered, for the runner to pick up").waitFor();
  await panel.getByRole("button", { name: "Run on" }).click();
  await page.getByRole("log", { name: "Output of the run" }).getByText("heard true").waitFor();
  await page.locator(".thread-pane .status.done").waitFor();
  expect((await store.thread("t").latest())?.state).toMatchObject({ answer: true, printed: true });
}, 90_000);

test("without --app nothing can be run, and a workflow that the application lacks is said", async () => {
  const without = await served();
  await without.store.thread("t").put({ state: {}, next: ["a"] });
  expect((await without.post("run/start", { thread: "t" })).status).toBe(403);
  const page = await visit(browser(), without.inspector);
  await goTo(page, "#/thread/t");
  await page.getByRole("tab", { name: "State" }).waitFor();
  expect(await page.getByRole("button", { name: "Run on" }).count()).toBe(0);
  const { store, post, get } = await served({ app: application });
  await store.thread("other").put({ state: {}, workflow: "elsewhere", next: ["a"] });
  expect((await post("run/start", { thread: "nobody" })).status).toBe(404);
  expect((await post("run/start", { thread: "other" })).status).toBe(200);
  const run = async (): Promise<{ state: string; output: string }> =>
    ((await (await get("run", { thread: "other" })).json()) as { run: { state: string; output: string } }).run;
  await expect.poll(async () => (await run()).state, { timeout: 30_000 }).toBe("failed");
  expect((await run()).output).toContain('The application exports no workflow "elsewhere", but asking.');
}, 90_000);

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

test("pictures in a state are shown, other attachments named, and nothing is loaded from elsewhere", async () => {
  const { store, inspector, get } = await served();
  const content = [
    { type: "text", text: "Look at <b>this</b> [link](javascript:alert(1)) and https://example.org/x." },
    { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
    { type: "image_url", image_url: { url: "https://example.org/elsewhere.png" } },
    { type: "image_url", image_url: { url: `data:image/svg+xml;base64,${btoa("<svg onload='alert(1)'/>")}` } },
    { type: "file", filename: "report.pdf", mediaType: "application/pdf", data: new Uint8Array([1, 2, 3]) },
  ];
  const { id } = await store.thread("t").put({ state: { messages: [{ role: "user", content }] } });
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/t");
  const turn = page.locator(".turn");
  await turn.getByText("report.pdf").waitFor();
  await expect.poll(() => turn.locator("img").count()).toBe(1);
  expect(await turn.locator("img").evaluate((image) => (image as { src?: string }).src)).toMatch(/^blob:/);
  await turn.getByText("https://example.org/elsewhere.png").waitFor();
  // Markup is text, and only the web's addresses are links.
  expect(await turn.locator("b").filter({ hasText: "this" }).count()).toBe(0);
  expect(await turn.locator("a").evaluateAll((links) => links.map((link) => link.getAttribute("href")))).toEqual([
    "https://example.org/x",
  ]);
  const path = ["messages", 0, "content", 3, "image_url", "url"];
  const svg = await get("attachment", { thread: "t", checkpoint: id, path });
  expect(svg.headers.get("content-type")).toBe("application/octet-stream");
});

test("a conversation of thousands of messages has only those in sight, newest at the bottom", async () => {
  const { store, inspector } = await served();
  const messages = Array.from({ length: 3_000 }, (_, n) => ({
    role: n % 2 === 0 ? "user" : "assistant",
    content: `Message ${n}. ${"words ".repeat(n % 50)}`,
  }));
  await store.thread("t").put({ state: { messages } });
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/t");
  const talk = page.getByRole("log", { name: "Conversation, 3,000 messages" });
  await talk.getByText("Message 2999.").waitFor();
  expect(await talk.locator(".turn").count()).toBeLessThan(60);
  await talk.evaluate((box) => box.scrollTo(0, 0));
  await talk.getByText("Message 0.").waitFor();
  expect(await talk.locator(".turn").count()).toBeLessThan(60);
});

test("renderers that are given name values of their shapes, as text", async () => {
  const { store, inspector } = await served({
    renderers: [
      {
        name: "money",
        matches: (value) => typeof (value as { currency?: unknown }).currency === "string",
        title: () => "<b>Money</b>",
        text: (value) => `${(value as { amount: number }).amount} ${(value as { currency: string }).currency}`,
      },
    ],
  });
  await store.thread("t").put({ state: { price: { amount: 12, currency: "EUR" } } });
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/t");
  await page.getByRole("tree", { name: "State" }).getByText("<b>Money</b>").waitFor();
  await page.locator("#timeline .line").getByText("price <b>Money</b> 12 EUR").waitFor();
});
