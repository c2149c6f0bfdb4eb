import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Annotation, Command, interrupt, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import type { Backend, Listed } from "../../src/backend.ts";
import { open, type Store, type ThreadsOptions } from "../../src/index.ts";
import { ThreadmarkSaver } from "../../src/langgraph/index.ts";
import { START as BEGIN, END, graph } from "../../src/runtime/index.ts";
import { forwarding, sharedMemory } from "../../src/testing/index.ts";
import { folderOfTest } from "../support/folders-of-tests.ts";

const one = randomBytes(32);
const two = randomBytes(32);
const keys = { current: "one", keys: { one } };
const encryption = { ...keys, hideIds: true };

function coded(code: string) {
  return expect.objectContaining({ code });
}

async function ids(store: Store, options: ThreadsOptions = {}): Promise<string[]> {
  const found: string[] = [];
  for await (const { id } of store.threads(options)) found.push(id);
  return found;
}

describe("a store that hides its ids", () => {
  test("threads are listed with their ids, in pages without gaps or doubles, whatever the order", async () => {
    const store = await open("memory:", { encryption });
    const names = Array.from({ length: 230 }, (_, number) => `user-${number}`);
    await Promise.all(
      names.map((id) => store.thread(id).put({ state: {}, attributes: { even: id.length % 2 === 0 } })),
    );
    expect((await ids(store)).sort()).toEqual(names.toSorted());
    for (const where of [{}, { where: { even: true } }]) {
      const whole = await ids(store, where);
      const paged: string[] = [];
      for (let after: string | undefined; ; ) {
        const page = await ids(store, { ...where, limit: 40, ...(after !== undefined && { after }) });
        paged.push(...page);
        after = page.at(-1);
        if (page.length < 40) break;
      }
      expect(paged).toEqual(whole);
    }
    await store.close();
  });

  test("a beginning of ids or a range of values is a TypeError, unless an equality finds the threads", async () => {
    const store = await open("memory:", { encryption });
    for (let n = 0; n < 6; n += 1) {
      await store.thread(`t${n}`).put({ state: {}, workflow: n < 3 ? "a" : "b", attributes: { n, name: `name ${n}` } });
    }
    for (const options of [
      { prefix: "t" },
      { prefix: "t", workflow: "a" },
      { where: { n: { gt: 1 } } },
      { where: { name: { prefix: "name" } } },
      { where: { n: { lte: 1 } }, order: "updated" },
    ] as const) {
      await expect(ids(store, options)).rejects.toThrow(TypeError);
      await expect(ids(store, options)).rejects.toThrow("hideIds");
    }
    await expect(store.interrupts({ where: { n: { gt: 1 } } }).next()).rejects.toThrow(TypeError);
    expect(await ids(store, { workflow: "a", where: { n: { gt: 1 } } })).toEqual(["t2"]);
    expect(await ids(store, { where: { name: "name 4", n: { gte: 4 } } })).toEqual(["t4"]);
    expect((await ids(store, { where: { n: { in: [0, 5] } } })).sort()).toEqual(["t0", "t5"]);
    expect(await ids(store, { where: { n: { ne: 1 } }, workflow: "a", order: "updated", limit: 1 })).toHaveLength(1);
    expect(Object.keys((await store.counts()).workflows).sort()).toEqual(["a", "b"]);
    await store.close();
  });

  test("another value of hideIds is KEY before anything is written, and none takes the store as it is", async () => {
    for (const hideIds of [true, false]) {
      const place = sharedMemory();
      await (await open(place, { encryption: { ...keys, hideIds } })).thread("t").put({ state: { n: 1 } });
      const before = await place.size();
      const other = await open(place, { encryption: { ...keys, hideIds: !hideIds } });
      await expect(other.thread("t").latest()).rejects.toThrow(coded("KEY"));
      await expect(other.thread("new").put({ state: {} })).rejects.toThrow("hideIds");
      expect(await place.size()).toEqual(before);
      const same = await open(place, { encryption: keys });
      expect((await same.thread("t").latest())?.state).toEqual({ n: 1 });
      for (const use of [
        async () => (await open(place)).thread("t").latest(),
        async () => (await open(place)).thread("t").info(),
        async () => (await open(place)).thread("t").history().next(),
        async () => (await open(place)).thread("t").put({ state: {} }),
        async () => (await open(place)).thread("t").fork({ into: "f" }),
        async () => (await open(place)).thread("t").delete(),
        async () => (await open(place)).threads().next(),
        async () => (await open(place)).counts(),
        async () => (await open(place)).watch().next(),
        async () => (await open(place)).verify(),
      ]) {
        await expect(use()).rejects.toThrow(coded("KEY"));
      }
      expect(await place.size()).toEqual(before);
    }
    await expect(open("memory:", { encryption: { ...encryption, migrating: true } })).rejects.toThrow(TypeError);
  });

  test("a directory record that is damaged, moved or swapped is refused, and the list goes on behind it", async () => {
    const place = sharedMemory();
    const writer = await open(place, { encryption });
    const names = Array.from({ length: 120 }, (_, number) => `t${number}`);
    for (const id of names) await writer.thread(id).put({ state: { id } });
    const [listed] = (await place.read([{ list: { limit: 1000 } }])) as readonly [readonly Listed[]];
    // The hundredth record ends a page.
    for (const at of [0, 99, 119]) {
      const target = listed[at] as Listed;
      for (const forged of [
        (target.value as Uint8Array).map((byte, index) => (index === 40 ? byte ^ 1 : byte)),
        listed[(at + 1) % listed.length]?.value as Uint8Array,
        "1j00000000{}",
      ]) {
        const show = (id: string, value: Listed["value"]) => (id === target.id ? forged : value);
        const forging: Backend = forwarding(place, {
          read: async (reads) =>
            (await place.read(reads)).map((answer, index) => {
              const read = reads[index];
              if (read && "list" in read)
                return (answer as readonly Listed[]).map(({ id, value }) => ({ id, value: show(id, value) }));
              if (read && "get" in read && read.get.table === "directory" && answer !== undefined)
                return show(read.get.id, answer as Listed["value"]);
              return answer;
            }),
        });
        const store = await open<{ id: string }>(forging, { encryption });
        const rest = await ids(store as Store);
        expect(rest).toHaveLength(names.length - 1);
        const [hit] = names.filter((id) => !rest.includes(id)) as [string];
        await expect(store.thread(hit).latest()).rejects.toThrow(coded("CORRUPT"));
        const { ok, faults } = await store.verify();
        expect([ok, faults.length]).toEqual([false, 1]);
      }
    }
  });

  test("rotation, reindexing, sweeping, bundles and backups keep the ids, and hide them again", async () => {
    const folder = folderOfTest();
    const url = `sqlite:${join(folder, "a.db")}`;
    const both = { current: "two", keys: { one, two } };
    let now = Date.now();
    const clock = () => now;
    const retention = { workflows: { old: { threads: { idle: "1d" } } } } as const;
    const first = await open<{ id: string }>(url, { encryption, clock });
    for (const id of ["alice", "bob"]) await first.thread(id).put({ state: { id }, workflow: "chat" });
    await first.thread("old").put({ state: { id: "old" }, workflow: "old" });
    await first.thread("alice").fork({ into: "alice-2" });
    await first.close();
    const store = await open<{ id: string }>(url, { encryption: both, retention, clock });
    expect(await store.rotate()).toEqual({ wrapped: 3, rewritten: 0 });
    expect(await store.rotate({ data: true })).toEqual({ wrapped: 0, rewritten: 3 });
    now += 48 * 60 * 60 * 1000;
    expect(await store.sweep()).toMatchObject({ threads: 1 });
    await store.reindex();
    await store.compact();
    expect(await store.verify()).toEqual({ ok: true, faults: [] });
    expect((await ids(store as Store)).sort()).toEqual(["alice", "alice-2", "bob"]);
    expect((await ids(store as Store, { workflow: "chat" })).sort()).toEqual(["alice", "alice-2", "bob"]);
    const { cursor } = await store.backup(join(folder, "1.bundle"));
    await store.thread("bob").delete();
    await store.thread("carol").put({ state: { id: "carol" } });
    expect(await store.backup(join(folder, "2.bundle"), { since: cursor })).toMatchObject({ threads: 1, deleted: 1 });
    await store.close();
    expect(readFileSync(join(folder, "1.bundle")).includes("alice")).toBe(false);
    for (const [target, hideIds] of [
      ["file:hidden", true],
      ["sqlite:visible.db", false],
    ] as const) {
      const [scheme, name] = target.split(":");
      const restored = await open<{ id: string }>(`${scheme}:${join(folder, name as string)}`, {
        encryption: { ...both, hideIds },
      });
      await restored.restore([join(folder, "1.bundle"), join(folder, "2.bundle")]);
      expect((await ids(restored as Store)).sort()).toEqual(["alice", "alice-2", "carol"]);
      expect((await restored.thread("carol").latest())?.state).toEqual({ id: "carol" });
      expect(await restored.verify()).toEqual({ ok: true, faults: [] });
      await restored.close();
    }
  });

  test("watchers of a thread and of a workflow are told of them by name, here and in another store", async () => {
    const place = sharedMemory();
    const [writer, reader] = [await open(place, { encryption }), await open(place, { encryption })];
    const watches = [reader.watch({ thread: "alice" }), reader.watch({ workflow: "chat" }), reader.watch()];
    const told = watches.map((watch) => watch.next());
    await writer.thread("bob").put({ state: {}, workflow: "other" });
    await writer.thread("alice").put({ state: {}, workflow: "chat" });
    const threads = (await Promise.all(told)).map(({ value }) => value?.thread);
    expect(threads).toEqual(["alice", "alice", "bob"]);
    for (const watch of watches) await watch.return?.();
  });

  test("workers find due runs, and a run and a graph of LangGraph are answered", async () => {
    const store = await open<{ answer: string }>("memory:", { encryption });
    const flow = graph<{ answer: string }>("support")
      .node("ask", (_state, ctx) => ({ answer: ctx.interrupt("really?") as string }))
      .edge(BEGIN, "ask")
      .edge("ask", END)
      .compile({ store });
    const stop = new AbortController();
    const worker = flow.worker({ signal: stop.signal });
    await flow.start({ answer: "" }, { thread: "run-1" });
    const question = await asked(store);
    expect(question).toMatchObject({ thread: "run-1", workflow: "support", value: "really?" });
    await flow.answer("run-1", question.id, "yes");
    for await (const change of store.watch({ thread: "run-1" })) {
      if (change.kind === "put" && (await store.thread("run-1").info())?.status === "done") break;
    }
    expect((await store.thread("run-1").latest())?.state).toEqual({ answer: "yes" });
    stop.abort();
    await worker.done;

    const State = Annotation.Root({ said: Annotation<string>() });
    const chats = await open("memory:", { encryption });
    const saver = new ThreadmarkSaver(chats);
    const app = new StateGraph(State)
      .addNode("ask", () => ({ said: interrupt("sure?") as string }))
      .addEdge(START, "ask")
      .compile({ checkpointer: saver });
    const config = { configurable: { thread_id: "chat-7" } };
    await app.invoke({ said: "" }, config);
    expect(await ids(chats, { status: "waiting" })).toEqual(["chat-7"]);
    expect((await app.invoke(new Command({ resume: "yes" }), config)).said).toBe("yes");
    const listed: unknown[] = [];
    for await (const { config: found } of saver.list({})) listed.push(found.configurable?.["thread_id"]);
    expect(new Set(listed)).toEqual(new Set(["chat-7"]));
    await store.close();
    await chats.close();
  });
});

async function asked(store: Store<{ answer: string }>) {
  const changes = store.watch();
  for (;;) {
    for await (const question of store.interrupts({ workflow: "support" })) {
      await changes.return?.();
      return question;
    }
    await changes.next();
  }
}
