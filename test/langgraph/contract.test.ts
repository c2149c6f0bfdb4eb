import { HumanMessage } from "@langchain/core/messages";
import { TASKS, uuid6 } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";
import { checkpointOf, listAll, loop, newThread, onEveryBackend, put, thread, valuesAt } from "./support/saver.ts";

onEveryBackend("the checkpointer's contract", (savers) => {
  it("channels that are not new are the parent's, whatever is passed for them", async () => {
    const saver = await savers.fresh();
    const first = await put(saver, thread(newThread()), { a: 1, b: [1], c: "x" });
    const child = checkpointOf({ a: 999, b: [1, 2] }, 1, { channel_versions: { a: 1, b: 2, c: 1 } });
    const second = await saver.put(first, child, loop, { b: 2 });
    expect(await valuesAt(saver, second)).toEqual({ a: 1, b: [1, 2], c: "x" });
    expect(await valuesAt(saver, first)).toEqual({ a: 1, b: [1], c: "x" });
  });

  it("a channel that is new and has no value is empty, and stays so", async () => {
    const saver = await savers.fresh();
    const first = await put(saver, thread(newThread()), { a: 1, b: 2 });
    const emptied = checkpointOf({}, 1, { channel_versions: { a: 2, b: 1 } });
    const second = await saver.put(first, emptied, loop, { a: 2 });
    expect(await valuesAt(saver, second)).toEqual({ b: 2 });
    const third = await saver.put(second, checkpointOf({}, 1, { channel_versions: { a: 2, b: 1 } }), loop, {});
    expect(await valuesAt(saver, third)).toEqual({ b: 2 });
  });

  it("two branches may give one version to different values", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    const root = await put(saver, thread(id), { messages: [new HumanMessage("root")] });
    const left = await put(saver, root, { messages: [new HumanMessage("root"), new HumanMessage("left")] }, 2);
    const right = await put(saver, root, { messages: [new HumanMessage("root"), new HumanMessage("right")] }, 2);
    const onward = await put(saver, left, { other: 1 }, 3);
    const contents = async (config: typeof left): Promise<unknown> =>
      ((await valuesAt(saver, config))["messages"] as HumanMessage[] | undefined)?.map((message) => message.content);
    expect(await contents(left)).toEqual(["root", "left"]);
    expect(await contents(right)).toEqual(["root", "right"]);
    expect(await contents(onward)).toBeUndefined();
    expect((await saver.getTuple(onward))?.parentConfig).toEqual(left);
  });

  it("the latest is the greatest id, and lists go by ids", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    const ids = ["1ef00000-b", "1ef00000-d", "1ef00000-a", "1ef00000-c"];
    for (const checkpoint of ids) {
      await saver.put(thread(id), checkpointOf({ at: checkpoint }, 1, { id: checkpoint }), loop, { at: 1 });
    }
    expect((await saver.getTuple(thread(id)))?.checkpoint.id).toBe("1ef00000-d");
    const listed = async (options: Parameters<typeof listAll>[2]): Promise<string[]> =>
      (await listAll(saver, thread(id), options)).map((tuple) => tuple.checkpoint.id.slice(-1));
    expect(await listed({})).toEqual(["d", "c", "b", "a"]);
    expect(await listed({ before: thread("another", "1ef00000-c") })).toEqual(["b", "a"]);
    expect(await listed({ before: thread(id, "1ef00000-c"), limit: 1 })).toEqual(["b"]);
    expect(await listed({ limit: 0 })).toEqual([]);
  });

  it("an id that exists is replaced", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    const first = await put(saver, thread(id), { a: 1 });
    const checkpoint = checkpointOf({ a: 2 }, 2);
    const second = await saver.put(first, checkpoint, loop, { a: 2 });
    const child = await put(saver, second, { b: 1 }, 3);
    await saver.put(first, { ...checkpoint, channel_values: { a: 3 } }, { ...loop, step: 9 }, { a: 2 });
    expect(await valuesAt(saver, second)).toEqual({ a: 3 });
    expect((await saver.getTuple(second))?.metadata?.step).toBe(9);
    expect((await saver.getTuple(child))?.parentConfig).toEqual(second);
    expect(await listAll(saver, thread(id))).toHaveLength(3);
  });

  it("special writes replace stored ones, ordinary writes do not, and both may come before their checkpoint", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    const checkpoint = checkpointOf({ a: 1 });
    const config = thread(id, checkpoint.id);
    await saver.putWrites(
      config,
      [
        ["a", 1],
        ["b", 2],
      ],
      "t1",
    );
    await saver.putWrites(
      config,
      [
        ["a", 9],
        ["b", 9],
        ["c", 3],
      ],
      "t1",
    );
    await saver.putWrites(config, [["__interrupt__", "first"]], "t2");
    await saver.putWrites(
      config,
      [
        ["__interrupt__", "second"],
        ["__resume__", "r"],
      ],
      "t2",
    );
    await saver.putWrites(
      config,
      [
        ["__error__", "kept"],
        ["a", 1],
      ],
      "t3",
    );
    await saver.putWrites(
      config,
      [
        ["__error__", "not this"],
        ["a", 2],
      ],
      "t3",
    );
    await saver.putWrites(config, [], "t4");
    expect(await saver.getTuple(config)).toBeUndefined();
    await saver.put(thread(id), checkpoint, loop, { a: 1 });
    const writes = (await saver.getTuple(config))?.pendingWrites ?? [];
    expect(writes).toEqual([
      ["t1", "a", 1],
      ["t1", "b", 2],
      ["t1", "c", 3],
      ["t2", "__resume__", "r"],
      ["t2", "__interrupt__", "second"],
      ["t3", "__error__", "kept"],
      ["t3", "a", 1],
    ]);
    await put(saver, config, { a: 2 }, 2);
    expect((await saver.getTuple(config))?.pendingWrites).toHaveLength(7);
  });

  it("a late write does not bring a deleted thread back, and neither does a late checkpoint", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    const config = await put(saver, thread(id), { a: 1 });
    await saver.deleteThread(id);
    await saver.putWrites(config, [["a", 2]], "late");
    expect(await saver.getTuple(thread(id))).toBeUndefined();
    expect(await saver.getTuple(config)).toBeUndefined();
    expect(await listAll(saver, {})).toEqual([]);
    await expect(put(saver, config, { a: 2 }, 2)).rejects.toMatchObject({ code: "NOT_FOUND" });
    for await (const found of saver.threads()) expect(found.id).not.toBe(id);
    const again = await put(saver, thread(id), { a: 3 });
    expect((await saver.getTuple(again))?.pendingWrites).toEqual([]);
  });

  it("lists go through namespaces and threads, and filter by metadata", async () => {
    const saver = await savers.fresh();
    const config = { metadata: { user_id: "u1", tenant: { id: 7 }, run_id: "r1", thread_id: "x", langgraph_step: 3 } };
    const other = { metadata: { user_id: "u2", big: 1n, call: () => 1 } };
    await put(saver, { ...thread("a"), ...config }, { n: 1 });
    await put(saver, { ...thread("b"), ...other }, { n: 2 });
    const nested = { configurable: { thread_id: "a", checkpoint_ns: "inner:1|deep||odd" } };
    await put(saver, { ...nested, ...config }, { n: 3 });
    const found = async (where: object, filter?: Record<string, unknown>): Promise<unknown[]> =>
      (await listAll(saver, where, filter === undefined ? {} : { filter })).map(
        (tuple) => tuple.checkpoint.channel_values["n"],
      );
    expect(await found({})).toEqual([3, 2, 1]);
    expect(await found({ configurable: { thread_id: "a" } })).toEqual([3, 1]);
    expect(await found(nested)).toEqual([3]);
    expect(await found({}, { user_id: "u1" })).toEqual([3, 1]);
    expect(await found({}, { tenant: { id: 7 } })).toEqual([3, 1]);
    expect(await found({}, { run_id: "r1", source: "loop" })).toEqual([3, 1]);
    expect(await found({}, { user_id: "u2", step: 0 })).toEqual([2]);
    expect(await found({}, { user_id: "nobody" })).toEqual([]);
    const [tuple] = await listAll(saver, nested);
    expect(tuple?.metadata).toEqual({ ...loop, user_id: "u1", tenant: { id: 7 } });
    expect(tuple?.config.configurable?.["checkpoint_ns"]).toBe("inner:1|deep||odd");
  });

  it("before version 4, what was sent is with the parent's writes", async () => {
    const saver = await savers.fresh();
    const id = newThread();
    const old = (values: Record<string, unknown>): ReturnType<typeof checkpointOf> =>
      checkpointOf(values, 1, { v: 3, id: uuid6(0) });
    const first = await saver.put(thread(id), old({ a: 1 }), loop, { a: 1 });
    await saver.putWrites(first, [[TASKS, { node: "n", args: 1 }]], "t1");
    const second = await saver.put(first, old({ a: 2 }), loop, { a: 2 });
    const tuple = await saver.getTuple(second);
    expect(tuple?.checkpoint.v).toBe(3);
    expect(tuple?.checkpoint.channel_values).toEqual({ a: 2, [TASKS]: [{ node: "n", args: 1 }] });
    expect(tuple?.checkpoint.channel_versions).toEqual({ a: 1, [TASKS]: 1 });
    expect((await saver.getTuple(first))?.checkpoint.channel_values).toEqual({ a: 1 });
  });

  it("a config without a thread is refused, and reads nothing", async () => {
    const saver = await savers.fresh();
    await expect(put(saver, {}, { a: 1 })).rejects.toThrow(TypeError);
    await expect(saver.putWrites({ configurable: { checkpoint_id: "a" } }, [["a", 1]], "t")).rejects.toThrow(TypeError);
    await expect(saver.putWrites(thread("a"), [["a", 1]], "t")).rejects.toThrow(TypeError);
    expect(await saver.getTuple({})).toBeUndefined();
    expect(await saver.get(thread("unknown"))).toBeUndefined();
  });
});
