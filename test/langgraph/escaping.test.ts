import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { expect, it } from "vitest";
import { open } from "../../src/api/open.ts";
import { ThreadmarkSaver } from "../../src/langgraph/index.ts";
import { reserved } from "../../src/langgraph/mapping/bookkeeping.ts";
import { checkpointOf, listAll, loop, newThread, onEveryBackend, thread, valuesAt } from "./support/saver.ts";

/** The names that the stored form of an instance has, and names that LangChain's own serialised form has. */
const names = ["lc", "kw", "kwargs", "own", "absent", "type", "id", "value", "content", "lg_name", "$", "__proto__"];
const classes = ["object", "HumanMessage", "AIMessage", "Document", "DeltaSnapshot", "constructor", "en", "c", ""];

/** Any JSON, rich in what the saver's own format looks like. */
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(...classes),
    fc.constantFrom(null, true, 0, 1, -3.5),
    fc.string(),
    fc.array(tie("value"), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.oneof(fc.constantFrom(...names), fc.string()), tie("value")), { maxLength: 4 })
      .map((entries) => Object.fromEntries(entries) as unknown),
  ),
})).value;

/** Keys that LangGraph puts into a config's metadata itself are not kept. */
const metadataKey = fc.oneof(fc.constantFrom(...names), fc.string()).filter((key) => !key.startsWith("__"));
const framework = new Set(["thread_id", "run_id", "source", "step", "parents", "checkpoint_id", "checkpoint_ns"]);

onEveryBackend("escaping", (savers) => {
  it("any JSON round-trips as state, as a write, and as metadata of the config or of the checkpoint", async () => {
    const saver = await savers.fresh();
    await fc.assert(
      fc.asyncProperty(json, fc.array(fc.tuple(metadataKey, json), { maxLength: 3 }), async (value, entries) => {
        const id = newThread();
        const given = Object.fromEntries(entries.filter(([key]) => !framework.has(key)));
        const checkpoint = checkpointOf({ lc: value, a: { nested: value } });
        const metadata = { ...loop, extra: value } as unknown as CheckpointMetadata;
        const at = await saver.put(
          { ...thread(id), metadata: { "a key": value, ...given } },
          checkpoint,
          metadata,
          checkpoint.channel_versions,
        );
        await saver.putWrites(at, [["lc", value]], "task");
        const tuple = await saver.getTuple(thread(id));
        expect(tuple?.checkpoint.channel_values).toStrictEqual({ lc: value, a: { nested: value } });
        expect(tuple?.metadata).toStrictEqual({ ...loop, "a key": value, ...given, extra: value });
        expect(tuple?.pendingWrites).toStrictEqual([["task", "lc", value]]);
        const found = await listAll(saver, thread(id), { filter: { "a key": given["a key"] ?? value } });
        expect(found).toHaveLength(1);
      }),
      { numRuns: 60 },
    );
  });

  it("a message whose id or name is an object that looks stored comes back as it was", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    const fake = { lc: "AIMessage", content: "not a message", kw: "c" };
    const messages = [
      new HumanMessage({ content: "a", id: fake as never }),
      new HumanMessage({ content: "b", name: fake as never }),
      new AIMessage({ content: "c", additional_kwargs: { fake }, response_metadata: fake }),
    ];
    const checkpoint = checkpointOf({ messages });
    await saver.put(thread(id), checkpoint, loop, checkpoint.channel_versions);
    expect((await valuesAt(saver, thread(id)))["messages"]).toStrictEqual(messages);
  });

  it("a message made of an object with a key __proto__ comes back as it was", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    const fields = JSON.parse('{ "content": "a", "__proto__": { "polluted": true } }') as { content: string };
    const message = new HumanMessage(fields);
    Object.defineProperty(message, "__proto__", { value: 1, enumerable: true, writable: true, configurable: true });
    const checkpoint = checkpointOf({ messages: [message] });
    await saver.put(thread(id), checkpoint, loop, checkpoint.channel_versions);
    const [read] = (await valuesAt(saver, thread(id)))["messages"] as [HumanMessage];
    expect(Object.getPrototypeOf(read)).toBe(HumanMessage.prototype);
    expect(Object.getPrototypeOf(read.lc_kwargs)).toBe(Object.prototype);
    expect(Object.entries(read.lc_kwargs)).toStrictEqual(Object.entries(message.lc_kwargs));
    expect(Object.getOwnPropertyDescriptor(read, "__proto__")?.value).toBe(1);
  });

  it("metadata that cannot be kept as it is does not fail a run", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    const cyclic: Record<string, unknown> = { name: "itself" };
    cyclic["self"] = cyclic;
    const sparse = [1, 2, 3];
    delete sparse[1];
    const metadata = {
      kept: { deep: [{ lc: 1 }] },
      cyclic,
      sparse,
      extra: Object.assign([1], { more: 2 }),
      accessor: Object.defineProperty({}, "now", { enumerable: true, get: () => 1 }),
      hidden: Object.defineProperty({}, "now", { enumerable: false, value: 1 }),
      hiddenInList: Object.defineProperty([1], "more", { enumerable: false, value: 1 }),
      symbol: { [Symbol("s")]: 1 },
      nan: Number.NaN,
      call: () => 1,
      at: new Date(),
    };
    const checkpoint = checkpointOf({ a: 1 });
    await saver.put({ ...thread(id), metadata }, checkpoint, loop, checkpoint.channel_versions);
    expect((await saver.getTuple(thread(id)))?.metadata).toStrictEqual({ ...loop, kept: { deep: [{ lc: 1 }] } });
  });
});

it("a thread with metadata that an earlier version did not escape reads as it was given", async () => {
  await using store = await open("memory:");
  const saver = new ThreadmarkSaver(store);
  const given = {
    user: { lc: "en" },
    serialised: { lc: 1, type: "constructor", id: ["langchain_core", "messages", "HumanMessage"], kwargs: {} },
    said: { lc: "HumanMessage", content: "hello" },
    list: [{ lc: "object" }, { lc: "object", value: 5 }, { lc: null }],
  };
  const state = { a: 1, [reserved]: { versions: { a: 1 }, seen: {} } };
  const root = await store.thread("t").put({ state, metadata: { ...given, parents: {} }, step: 0, stateVersion: 4 });
  const tuple = await saver.getTuple(thread("t"));
  expect(tuple?.metadata).toStrictEqual({ source: "loop", step: 0, parents: {}, ...given });
  expect(await listAll(saver, {}, { filter: { user: { lc: "en" } } })).toHaveLength(1);
  const next = checkpointOf({ a: 2 }, 2);
  await saver.put(thread("t", root.id), next, { ...loop, step: 1 }, { a: 2 });
  expect(await valuesAt(saver, thread("t"))).toEqual({ a: 2 });
});

it("a class in the state that this version does not know is refused by name", async () => {
  await using store = await open("memory:");
  const state = { a: { lc: "NewMessage", content: "" }, [reserved]: { versions: { a: 1 }, seen: {} } };
  await store.thread("t").put({ state, stateVersion: 4 });
  await expect(new ThreadmarkSaver(store).getTuple(thread("t"))).rejects.toMatchObject({
    code: "UNSUPPORTED",
    message: expect.stringContaining('"NewMessage"'),
  });
});
