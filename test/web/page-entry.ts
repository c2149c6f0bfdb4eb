import { open, ThreadmarkError } from "../../src/index.ts";
import { END, graph, START } from "../../src/runtime/index.ts";

/** Runs in a browser, and does with a store and the runtime what a page would do. Returns the results. */
async function visit(): Promise<unknown> {
  const store = await open<{ messages: string[]; at: Date; bytes: Uint8Array }>("memory:");
  const thread = store.thread("tab");
  const first = await thread.put({ state: { messages: ["hello"], at: new Date(0), bytes: Uint8Array.of(1, 2) } });
  for (let turn = 0; turn < 100; turn++) await thread.put({ update: { append: { messages: [`${turn} ü 😀`] } } });
  const fork = await thread.fork({ at: first.id, edits: { messages: ["another"] } });
  const lease = await thread.acquire({ ttl: 1_000 });
  const refused = await thread.put({ update: { append: { messages: ["x"] } } }).catch((error: unknown) => error);
  await lease.release();
  const head = await thread.latest();
  const verified = await store.verify();
  const twice = graph<{ count: number }>("twice")
    .node("one", ({ count }) => ({ count: count + 1 }))
    .node("two", ({ count }) => ({ count: count * 10 }))
    .edge(START, "one")
    .edge("one", "two")
    .edge("two", END)
    .compile({ store: await open("memory:") });
  const { state } = await twice.run({ count: 1 }, { thread: "run" });
  return {
    messages: head?.state.messages.length,
    last: head?.state.messages.at(-1),
    at: head?.state.at instanceof Date,
    bytes: [...(head?.state.bytes ?? [])],
    fork: (await fork.latest())?.state.messages,
    refused: ThreadmarkError.is(refused, "BUSY"),
    verified,
    state,
  };
}

Object.assign(globalThis, { visit });
