import { Annotation, Command, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { levelsOf } from "../../src/langgraph/mapping/address.ts";
import { checkpointOf, listAll, loop, newThread, onEveryBackend, put, thread, valuesAt } from "./support/saver.ts";

const State = Annotation.Root({ answer: Annotation<string> });

/** Graphs in one another, each in a node with a long name; the innermost asks. */
function nested(depth: number) {
  const innermost = new StateGraph(State)
    .addNode("ask", () => ({ answer: interrupt("what?") as string }))
    .addEdge(START, "ask")
    .addEdge("ask", END);
  let graph = innermost as never as StateGraph<typeof State>;
  for (let level = 0; level < depth; level++) {
    const name = `a node with a long name, for the graph at level ${level}`;
    graph = new StateGraph(State)
      .addNode(name, graph.compile() as never)
      .addEdge(START, name as never)
      .addEdge(name as never, END) as never;
  }
  return graph;
}

onEveryBackend("odd names", (savers) => {
  it("sixteen graphs in one another with long names are asked, answered, listed and pruned", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    const graph = nested(16).compile({ checkpointer: saver });
    const config = { configurable: { thread_id: id } };
    await graph.invoke({ answer: "" }, config);
    const namespaces = new Set<string>();
    for (const tuple of await listAll(saver, config)) {
      const { checkpoint_ns: namespace } = tuple.config.configurable as { readonly checkpoint_ns: string };
      namespaces.add(namespace);
      expect((await saver.getTuple(tuple.config))?.checkpoint.id).toBe(tuple.checkpoint.id);
      expect(await listAll(saver, { configurable: { thread_id: id, checkpoint_ns: namespace } })).not.toEqual([]);
    }
    expect(namespaces.size).toBe(17);
    const longest = [...namespaces].sort((left, right) => right.length - left.length)[0] as string;
    expect(longest.length).toBeGreaterThan(1024);
    expect(longest.split("|")).toHaveLength(16);
    expect(await graph.invoke(new Command({ resume: "that" }), config)).toMatchObject({ answer: "that" });
    await saver.prune(id, { keepLast: 1 });
    const again = await savers.again();
    const left = await listAll(again, config);
    expect(new Set(left.map((tuple) => tuple.config.configurable?.["checkpoint_ns"]))).toEqual(namespaces);
    expect(await valuesAt(again, config)).toMatchObject({ answer: "that" });
  });

  it("a namespace of any text is one of its own, and comes back as it was", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    const long = "x".repeat(2000);
    const names = ["a|b", "a||b", "|", long, `${long}|`, `${long}y`, "nul\0", "\ud800", "\ud801", "sha256:ab"];
    names.push(...names.slice(3).flatMap((name) => levelsOf(name)));
    for (const [index, checkpoint_ns] of names.entries()) {
      await put(saver, { configurable: { thread_id: id, checkpoint_ns } }, { index });
    }
    for (const [index, checkpoint_ns] of names.entries()) {
      const tuple = await saver.getTuple({ configurable: { thread_id: id, checkpoint_ns } });
      expect(tuple?.checkpoint.channel_values).toEqual({ index });
      expect(tuple?.config.configurable?.["checkpoint_ns"]).toBe(checkpoint_ns);
    }
    const listed = await listAll(saver, { configurable: { thread_id: id } });
    expect(listed.map((tuple) => tuple.config.configurable?.["checkpoint_ns"]).sort()).toEqual([...names].sort());
  });

  it("a run with an id or a graph of any text does not fail, and is found and deleted by that id", async () => {
    const saver = await savers.fresh();
    const graph = new StateGraph(State)
      .addNode("say", () => ({ answer: "yes" }))
      .addEdge(START, "say")
      .addEdge("say", END)
      .compile({ checkpointer: saver });
    const ids = ["plain", "x".repeat(600), "y".repeat(600), "nul\0", "lone \ud800", "lone \ud801", "é".repeat(300)];
    for (const run_id of ids) {
      const metadata = { run_id, graph_id: run_id };
      await graph.invoke({ answer: "" }, { configurable: { thread_id: newThread() }, metadata });
    }
    for (const run_id of ids) {
      expect(await listAll(saver, {}, { filter: { run_id } })).toHaveLength(3);
      expect(await saver.deleteForRuns([run_id])).toBe(3);
      expect(await listAll(saver, {}, { filter: { run_id } })).toEqual([]);
    }
    expect(await listAll(saver, {})).toEqual([]);
  });

  it("a put whose config has LangChain's runId is deleted by it", async () => {
    const saver = await savers.fresh();
    const runId = newThread();
    const checkpoint = checkpointOf({ a: 1 });
    await saver.put({ ...thread(newThread()), runId }, checkpoint, loop, checkpoint.channel_versions);
    expect(await saver.deleteForRuns([runId])).toBe(1);
  });

  it("a put without new versions has all channels of the checkpoint", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    const first = checkpointOf({ a: 1, b: [1] });
    const config = await saver.put(thread(id), first, loop, undefined as never);
    expect(await valuesAt(saver, thread(id))).toEqual({ a: 1, b: [1] });
    await saver.put(config, checkpointOf({ a: 2, b: [1, 2] }, 2), loop, undefined as never);
    expect(await valuesAt(saver, thread(id))).toEqual({ a: 2, b: [1, 2] });
    expect(await valuesAt(saver, config)).toEqual({ a: 1, b: [1] });
  });
});
