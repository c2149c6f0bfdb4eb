import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { expect, test } from "vitest";
import type { Store } from "../../../src/index.ts";
import { ThreadmarkSaver } from "../../../src/langgraph/index.ts";
import { append, START as BEGIN, graph, END as STOP, send } from "../../../src/runtime/index.ts";
import { browserOfFile } from "../../support/browsers-of-tests.ts";
import { goTo, visit } from "../support/browser.ts";
import { type State, served } from "../support/seed.ts";

const browser = browserOfFile();

/** A workflow with a fan-out, and a branch that is never taken. */
async function seedResearch(store: Store<State>): Promise<void> {
  const flow = graph<{ found: string[] }>("research")
    .reduce({ found: append })
    .node("plan", () => ({}))
    .node("read", (_, ctx) => ({ found: [String(ctx.arg)] }))
    .node("publish", () => ({}))
    .node("withdraw", () => ({}))
    .edge(BEGIN, "plan")
    .branch("plan", () => ["moon", "sun"].map((topic) => send("read", topic)), ["read"])
    .branch("read", () => "publish", ["publish", "withdraw"])
    .edge("publish", STOP)
    .edge("withdraw", STOP)
    .compile({ store: store as unknown as Store });
  await flow.run({ found: [] }, { thread: "research-1" });
}

const Found = Annotation.Root({
  found: Annotation<string[]>({ reducer: (before, more) => before.concat(more), default: () => [] }),
});

function searching(store: Store) {
  return new StateGraph(Found)
    .addNode("plan", () => ({}))
    .addNode("web", () => ({ found: ["web"] }))
    .addNode("files", () => ({ found: ["files"] }))
    .addNode("never", () => ({}))
    .addEdge(START, "plan")
    .addEdge("plan", "web")
    .addEdge("plan", "files")
    .addConditionalEdges("web", () => END, ["never", END])
    .addEdge("never", END)
    .compile({ checkpointer: new ThreadmarkSaver(store) });
}

test("the graph is drawn as it was compiled: nodes that never ran, branches, and how often each way was taken", async () => {
  const { store, inspector } = await served();
  await seedResearch(store);
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/research-1?shape=graph");
  const picture = page.getByRole("region", { name: "Graph of the thread" });
  await picture.getByText("Drawn from the compiled graph.").waitFor();
  expect(await picture.locator(".graph-node.unseen").allTextContents()).toEqual(["withdrawnot yet run"]);
  expect(await picture.getByRole("button", { name: "read" }).textContent()).toMatch(/^read2×/);
  expect(await picture.locator(".edge.sometimes").count()).toBe(3);
  expect(await picture.locator(".edge.untaken").count()).toBe(2);
  await picture.getByRole("button", { name: "read" }).click();
  await page.locator("#timeline .step:not(.dimmed)").getByText("read ×2").waitFor();
  expect(await page.locator("#timeline .step:not(.dimmed)").count()).toBe(1);
});

test("parallel tasks are spans below their step, told apart by their arguments", async () => {
  const { store, inspector } = await served();
  await seedResearch(store);
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/research-1?shape=time");
  const names = page.locator("#times .span-name");
  await names.getByText("read moon").waitFor();
  expect((await names.allTextContents()).map((name) => name.replaceAll(/\s+/g, " ").trim())).toEqual([
    "Step 0 input",
    "Step 1 plan",
    "Step 2 read ×2",
    "Task of step 2 read moon",
    "Task of step 2 read sun",
    "Step 3 publish",
  ]);
});

test("LangGraph's parallel nodes are named in rows, in the graph from the history, and in the waterfall", async () => {
  const { store, inspector } = await served();
  await searching(store as unknown as Store).invoke({}, { configurable: { thread_id: "search" } });
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/search");
  await page.locator("#timeline .node").getByText("web, files").waitFor();
  expect(await page.locator("#timeline .node").allTextContents()).toEqual(["web, files", "plan", "start", "input"]);
  await goTo(page, "#/thread/search?shape=graph");
  const picture = page.getByRole("region", { name: "Graph of the thread" });
  await picture.getByText("Drawn from the history.").waitFor();
  expect(await picture.getByRole("button").count()).toBe(3);
  await goTo(page, "#/thread/search?shape=time");
  await page.locator("#times .span-bar.untimed").nth(1).waitFor();
});

test("with --app, the graph of a LangGraph thread is drawn from the graph that the application exports", async () => {
  const { store, inspector } = await served({
    app: (_, directory) => {
      const file = join(directory, "app.mjs");
      const module = pathToFileURL(
        join(import.meta.dirname, "../../../node_modules/@langchain/langgraph/dist/index.js"),
      );
      writeFileSync(
        file,
        `import { MessagesAnnotation, StateGraph, START, END } from ${JSON.stringify(module.href)};
         console.log("an application may print");
         export const other = { name: "no graph" };
         export const search = new StateGraph(MessagesAnnotation)
           .addNode("plan", () => ({})).addNode("web", () => ({})).addNode("files", () => ({})).addNode("never", () => ({}))
           .addEdge(START, "plan").addEdge("plan", "web").addEdge("plan", "files")
           .addConditionalEdges("web", () => END, ["never", END]).addEdge("never", END).compile();`,
      );
      return file;
    },
  });
  await searching(store as unknown as Store).invoke({}, { configurable: { thread_id: "search" } });
  const page = await visit(browser(), inspector);
  await goTo(page, "#/thread/search?shape=graph");
  const picture = page.getByRole("region", { name: "Graph of the thread" });
  await picture.getByText("Drawn from the compiled graph of the application.").waitFor();
  expect(await picture.locator(".graph-node.unseen").allTextContents()).toEqual(["nevernot yet run"]);
});
