import assert from "node:assert/strict";
import type { Store } from "../../../api/store.ts";
import type { ThreadsOptions } from "../../../model/interface/store-options.ts";
import type { Case } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { failsWith } from "../../support/failures.ts";
import { collect, shapedInformation } from "../../support/snapshot.ts";

const ids = async <State>(store: Store<State>, options?: ThreadsOptions): Promise<string[]> =>
  (await collect(store.threads(options ?? {}))).map(({ id }) => id);

export const threads: readonly Case[] = [
  {
    name: "threads: every thread is listed with workflow, head, status, counts and times",
    async run({ open, clock }) {
      const store = await open();
      const created = clock.now();
      const thread = store.thread("t");
      await thread.put({ state: {}, workflow: "w" });
      await store.thread("t", { namespace: ["sub"] }).put({ state: {}, workflow: "nested" });
      clock.advance(10);
      const head = await thread.put({ state: {}, node: "x" });
      const [info] = await collect(store.threads());
      exact([info?.id, info?.workflow, info?.status, info?.checkpoints], ["t", "w", "done", 3]);
      exact([info?.createdAt, info?.updatedAt, info?.forkedFrom], [created, clock.now(), null]);
      exact(info?.head && shapedInformation(info.head), shapedInformation(head));
      assert.deepEqual(Object.keys(info ?? {}).sort(), [
        "attributes",
        "checkpoints",
        "createdAt",
        "cursor",
        "forkedFrom",
        "head",
        "id",
        "status",
        "updatedAt",
        "workflow",
      ]);
      await store.thread("only nested", { namespace: ["sub"] }).put({ id: "n", state: {} });
      const nested = (await collect(store.threads({ prefix: "only" })))[0];
      exact([nested?.head.id, nested?.head.namespace, nested?.checkpoints], ["n", ["sub"], 1]);
    },
  },
  {
    name: "threads: info tells of one thread what the list does, and nothing of one without checkpoints",
    async run({ open }) {
      const store = await open();
      await store.thread("t").put({ state: { n: 1 }, workflow: "w", next: ["x"], attributes: { tenant: "acme" } });
      await store.thread("t").put({ update: { set: { n: 2 } } });
      await store.thread("t").fork({ into: "t2" });
      await store.thread("only nested", { namespace: ["sub"] }).put({ state: {} });
      await store.thread("empty").acquire();
      for (const info of await collect(store.threads())) exact(await store.thread(info.id).info(), info);
      exact(await store.thread("empty").info(), undefined);
      exact(await store.thread("none").info(), undefined);
    },
  },
  {
    name: "threads: a fork or copy is listed with its source",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: {} });
      await thread.put({ id: "b", state: {} });
      await thread.fork({ at: "a", into: "f" });
      await thread.fork({ at: "a", into: "g", edits: { x: 1 } });
      await thread.fork({ at: "b", into: "h", history: "none" });
      await thread.copy("k");
      const from = new Map((await collect(store.threads())).map(({ id, forkedFrom }) => [id, forkedFrom]));
      exact(from.get("t"), null);
      exact({ ...from.get("f") }, { thread: "t", checkpoint: "a" });
      exact({ ...from.get("g") }, { thread: "t", checkpoint: "a" });
      exact({ ...from.get("h") }, { thread: "t", checkpoint: "b" });
      exact({ ...from.get("k") }, { thread: "t", checkpoint: null });
    },
  },
  {
    name: "threads: threads are listed in bytewise order of id, by prefix, in pages",
    async run({ open }) {
      const store = await open();
      const names = [
        "b",
        "a",
        "ab",
        "a%",
        "a_",
        "a\\",
        "B",
        "é",
        "e\u0301",
        "z",
        "10",
        "2",
        "\u{1f600}",
        "\uffee",
        "a/b",
        "A B",
      ];
      for (const name of names) await store.thread(name).put({ state: {} });
      const ordered = [...names].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
      exact(await ids(store), ordered);
      exact(await ids(store, { order: "id" }), ordered);
      for (const prefix of ["a", "a%", "a_", "a\\", "é", "\u{1f600}", "nope", "A", ""]) {
        exact(
          await ids(store, prefix === "" ? {} : { prefix }),
          ordered.filter((name) => name.startsWith(prefix)),
          prefix,
        );
      }
      const paged: string[] = [];
      for (;;) {
        const after = paged.at(-1);
        const page = await ids(store, { limit: 3, ...(after === undefined ? {} : { after }) });
        if (page.length === 0) break;
        paged.push(...page);
      }
      exact(paged, ordered);
      exact(
        await ids(store, { after: "a!" }),
        ordered.filter((name) => name > "a!"),
        "after an id that is not there",
      );
      exact(await ids(store, { prefix: "a", after: "a%", limit: 2 }), ["a/b", "a\\"]);
    },
  },
  {
    name: "threads: more than a hundred threads are listed, all or by workflow, with a limit that counts the matches",
    async run({ open }) {
      const store = await open();
      const names = Array.from({ length: 230 }, (_, n) => `t${String(n).padStart(3, "0")}`);
      for (const [n, name] of names.entries()) await store.thread(name).put({ state: {}, workflow: `w${n % 7}` });
      exact(await ids(store), names);
      const chosen = names.filter((_, n) => n % 7 === 3);
      exact(await ids(store, { workflow: "w3" }), chosen);
      exact(await ids(store, { workflow: "w3", limit: 5 }), chosen.slice(0, 5));
      exact(await ids(store, { workflow: "w3", limit: 5, after: chosen[4] ?? "" }), chosen.slice(5, 10));
      exact(await ids(store, { workflow: "nope" }), []);
      await store.thread("t003").put({ state: {}, workflow: "other" });
      exact(await ids(store, { workflow: "w3" }), chosen.slice(1));
      exact(await ids(store, { workflow: "other" }), ["t003"]);
    },
  },
  {
    name: "threads: threads are listed by time of update, newest first, in pages",
    async run({ open, clock }) {
      const store = await open();
      const names = ["m", "a", "z", "k", "b"];
      for (const name of names) {
        clock.advance(10);
        await store.thread(name).put({ state: {} });
      }
      clock.advance(10);
      await store.thread("a").put({ state: {} });
      const ordered = ["a", "b", "k", "z", "m"];
      exact(await ids(store, { order: "updated" }), ordered);
      const first = await ids(store, { order: "updated", limit: 2 });
      exact([...first, ...(await ids(store, { order: "updated", after: first.at(-1) ?? "" }))], ordered);
    },
  },
  {
    name: "threads: a list by time cannot continue after a deleted thread, and fails instead of beginning again",
    async run({ open }) {
      const store = await open();
      for (const id of ["a", "b", "c"]) await store.thread(id).put({ state: {} });
      await store.thread("b").delete();
      await failsWith("NOT_FOUND", () => ids(store, { order: "updated", after: "b" }));
      exact(await ids(store, { after: "b" }), ["c"]);
    },
  },
  {
    name: "threads: status is done, paused, waiting or failed by the root's head, running under a live lease",
    async run({ open, clock }) {
      const store = await open();
      const thread = store.thread("t");
      const status = async (): Promise<string | undefined> =>
        (await collect(store.threads({ prefix: "t" })))[0]?.status;
      await thread.put({ id: "a", state: {}, next: ["x"] });
      assert.equal(await status(), "paused");
      await thread.putWrites("a", { task: "t", writes: [{ channel: "c", value: 1 }] });
      assert.equal(await status(), "paused");
      await thread.putWrites("a", { task: "t", writes: [{ channel: "error", value: "broken", index: -1 }] });
      assert.equal(await status(), "failed");
      await thread.put({ id: "b", state: {}, next: ["x"], interrupts: [{ id: "i", node: "x", value: 1 }] });
      assert.equal(await status(), "waiting");
      await thread.put({ id: "c", state: {} });
      assert.equal(await status(), "done");
      await store.thread("t", { namespace: ["sub"] }).put({ state: {}, next: ["y"] });
      assert.equal(await status(), "done");
      const held = await thread.acquire({ holder: "a", ttl: 1000 });
      assert.equal(await status(), "running");
      clock.advance(1001);
      assert.equal(await status(), "done");
      await held.renew();
      assert.equal(await status(), "running");
      await held.release();
      assert.equal(await status(), "done");
      await thread.deleteCheckpoints(["c"]);
      assert.equal(await status(), "waiting");
      await thread.deleteCheckpoints(["b"]);
      assert.equal(await status(), "failed");
      await thread.put({ id: "a", state: {} });
      await store.thread("u").put({ state: {}, next: ["x"] });
      exact(await ids(store, { status: "paused" }), ["u"]);
      exact(await ids(store, { status: "waiting" }), []);
    },
  },
  {
    name: "threads: a fork has the status of the head it shows",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      await thread.put({ id: "a", state: {}, next: ["x"] });
      await thread.put({ id: "b", state: {}, next: ["x"], interrupts: [{ id: "i", node: "x", value: 1 }] });
      await thread.put({ id: "c", state: {}, workflow: "w" });
      for (const at of ["a", "b", "c"]) await thread.fork({ at, into: `f-${at}` });
      const listed = await collect(store.threads({ prefix: "f-" }));
      exact(
        listed.map(({ id, status, checkpoints, workflow, head }) => [id, status, checkpoints, workflow, head.id]),
        [
          ["f-a", "paused", 1, null, "a"],
          ["f-b", "waiting", 2, null, "b"],
          ["f-c", "done", 3, "w", "c"],
        ],
      );
      assert.ok(listed.every(({ id, head }) => head.thread === id));
    },
  },
  {
    name: "threads: paging by id continues after a thread that was deleted meanwhile",
    async run({ open }) {
      const store = await open();
      for (const name of ["a", "b", "c", "d"]) await store.thread(name).put({ state: {} });
      await store.thread("b").delete();
      exact(await ids(store, { after: "b" }), ["c", "d"]);
      await failsWith("NOT_FOUND", () => store.thread("b").fork());
    },
  },
  {
    name: "threads: an error write at the root's head makes a thread failed, wherever it was written",
    async run({ open }) {
      const store = await open();
      const error = { task: "t", writes: [{ channel: "error", value: "broken", index: -1 }] };
      const status = async (id: string): Promise<string | undefined> =>
        (await collect(store.threads({ prefix: id })))[0]?.status;
      const nested = store.thread("n", { namespace: ["sub"] });
      await nested.put({ id: "same", state: {} });
      await store.thread("n").put({ id: "same", state: {}, next: ["x"] });
      await nested.putWrites("same", error);
      assert.equal(await status("n"), "paused", "an error in a nested namespace, under the same id");
      const thread = store.thread("t");
      for (const id of ["a", "b", "c"]) await thread.put({ id, state: {}, next: ["x"] });
      await thread.putWrites("a", error);
      assert.equal(await status("t"), "paused", "an error at an older checkpoint");
      await thread.fork({ at: "a", into: "f" });
      assert.equal(await status("f"), "failed", "a fork whose head has an error");
      await thread.putWrites("c", error);
      assert.equal(await status("t"), "failed");
      await thread.fork({ at: "b", into: "g" });
      assert.equal(await status("g"), "paused", "a fork whose head has none");
      await thread.deleteCheckpoints(["b", "c"]);
      assert.equal(await status("t"), "failed", "the head is the older one with an error again");
      await thread.deleteCheckpoints(["a"]);
      await thread.put({ id: "a", state: {}, next: ["x"] });
      assert.equal(await status("t"), "paused", "an id put again after it was deleted");
      await store.thread("e").putWrites("early", error);
      await store.thread("e").put({ id: "early", state: {}, next: ["x"] });
      assert.equal(await status("e"), "failed", "an error that came before its checkpoint");
    },
  },
];
