/**
 * Map and reduce with a join: a task of its own reads each page, all at once; the summary waits for the pages and for a
 * title that other nodes make. Run it: node examples/map-reduce.ts
 */
import { open } from "threadmark";
import { append, END, graph, merge, START, send } from "threadmark/runtime";
import { scriptedModel } from "./scripted-model.ts";

interface Report {
  pages: Record<string, string>;
  /** Points by page. */
  points: Record<string, string>;
  title?: string;
  log: string[];
}

const model = scriptedModel([
  [/whale/, { text: "Whales sing." }],
  [/moss/, { text: "Moss grows slowly." }],
  [/volcano/, { text: "Volcanoes do not ask." }],
  [/title/, { text: "Three things about nature" }],
]);
const ask = async (text: string): Promise<string> => (await model([{ role: "user", text }])).text;

const store = await open("memory:");
const flow = graph<Report>("report")
  .reduce({ points: merge, log: append })
  .node("plan", ({ pages }) => ({ log: [`${Object.keys(pages).length} pages`] }))
  .node("read", async ({ pages }, ctx) => {
    const page = ctx.arg as string;
    return { points: { [page]: await ask(pages[page] ?? "") } };
  })
  .node("think", () => ({ log: ["thinking of a title"] }))
  .node("title", async () => ({ title: await ask("a title, please") }))
  .node("write", ({ title, points }) => ({ log: [`${title}: ${Object.values(points).join(" ")}`] }))
  .edge(START, "plan")
  .edge("plan", "think")
  .edge("think", "title")
  .branch("plan", ({ pages }) => Object.keys(pages).map((page) => send("read", page)), ["read"])
  .edge(["read", "title"], "write")
  .edge("write", END)
  .compile({ store, concurrency: 8 });

const pages = { a: "On the whale.", b: "Some moss.", c: "The volcano." };
const { state } = await flow.run({ pages, points: {}, log: [] }, { thread: "nature" });
console.log(state.log.join("\n"));
console.log(flow.mermaid());
await store.close();
