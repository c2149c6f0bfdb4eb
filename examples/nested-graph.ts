/**
 * A graph inside a graph: an editor sends two researchers out, each a run of the same graph in a namespace of its own.
 * A researcher asks the outside, and is answered there. Run it: node examples/nested-graph.ts
 */
import { open } from "threadmark";
import { append, END, graph, START, send } from "threadmark/runtime";
import { scriptedModel } from "./scripted-model.ts";

interface Research {
  topic: string;
  notes: string[];
}
interface Article {
  topics: string[];
  paragraphs: string[];
}

const model = scriptedModel([
  [/tides/, { text: "The moon pulls the sea." }],
  [/ghosts/, { text: "There may be ghosts." }],
]);

const researcher = graph<Research>("researcher")
  .reduce({ notes: append })
  .node("read", async ({ topic }) => ({ notes: [(await model([{ role: "user", text: topic }])).text] }))
  .node("check", ({ notes }, ctx) => {
    const doubtful = notes.find((note) => note.includes("may be"));
    if (doubtful === undefined) return undefined;
    return { notes: ctx.interrupt<boolean>({ doubtful }) ? ["(Checked.)"] : ["(Unchecked.)"] };
  })
  .edge(START, "read")
  .edge("read", "check")
  .edge("check", END);

const store = await open("memory:");
const editor = graph<Article>("editor")
  .reduce({ paragraphs: append })
  .graph("research", researcher, {
    input: (_, topic) => ({ topic: topic as string, notes: [] }),
    output: ({ topic, notes }) => ({ paragraphs: [`${topic}: ${notes.join(" ")}`] }),
  })
  .node("print", ({ paragraphs }) => console.log(paragraphs.join("\n")))
  .branch(START, ({ topics }) => topics.map((topic) => send("research", topic)), ["research"])
  .edge("research", "print")
  .edge("print", END)
  .compile({ store });

const asked = await editor.run({ topics: ["tides", "ghosts"], paragraphs: [] }, { thread: "issue-1" });
for (const { id, node, value } of asked.interrupts) console.log(`${node} (${id}) asks:`, value);
await editor.resume({ thread: "issue-1", value: false });
for (const namespace of await store.thread("issue-1").namespaces()) {
  const head = await store.thread("issue-1", { namespace }).latest();
  console.log(`${namespace.join("/") || "the editor"}: ${head?.workflow}, step ${head?.step}`);
}
await store.close();
