import assert from "node:assert/strict";
import type { Store } from "../../../api/store.ts";
import type { Case, Free } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { idsOf, snapshot } from "../../support/snapshot.ts";

/** Puts a list of `namespace/id` (or just `id` for the root), in this order. */
async function commit(store: Store<Free>, thread: string, list: string): Promise<void> {
  for (const one of list.split(" ")) {
    const parts = one.split("/");
    const id = parts.pop() ?? "";
    await store.thread(thread, { namespace: parts }).put({ id, state: { id, of: thread } });
  }
}

async function shows(store: Store<Free>, thread: string, expected: Record<string, string>): Promise<void> {
  for (const [namespace, ids] of Object.entries(expected)) {
    const handle = store.thread(thread, { namespace: namespace === "" ? [] : namespace.split("/") });
    exact((await idsOf(handle)).join(" "), ids, `${namespace || "the root"} of ${thread}`);
    assert.equal(await handle.count(), ids === "" ? 0 : ids.split(" ").length);
    exact((await handle.latest())?.id ?? "", ids.split(" ")[0] ?? "");
  }
  const nested = (await store.thread(thread).namespaces()).filter((namespace) => namespace.length > 0);
  const filled = Object.keys(expected).filter((namespace) => namespace !== "" && expected[namespace] !== "");
  exact(nested.map((namespace) => namespace.join("/")).sort(), filled.sort(), `namespaces of ${thread}`);
}

export const forkNamespaces: readonly Case[] = [
  {
    name: "fork namespaces: each namespace of a fork shows its line up to the next commit of the root",
    async run({ open }) {
      const store = await open();
      await commit(store, "t", "r1 a/a1 b/b1 a/a2 r2 a/a3 a/c/c1 r3 b/b2 a/a4");
      await store.thread("t").fork({ at: "r1", into: "f1" });
      await shows(store, "f1", { "": "r1", a: "a2 a1", b: "b1", "a/c": "" });
      await store.thread("t").fork({ at: "r2", into: "f2" });
      await shows(store, "f2", { "": "r2 r1", a: "a3 a2 a1", b: "b1", "a/c": "c1" });
      await store.thread("t").fork({ at: "r3", into: "f3" });
      await shows(store, "f3", { "": "r3 r2 r1", a: "a4 a3 a2 a1", b: "b2 b1", "a/c": "c1" });
      exact((await store.thread("f1", { namespace: ["a"] }).get("a2"))?.thread, "f1");
      assert.equal(await store.thread("f1", { namespace: ["a"] }).get("a3"), undefined);
    },
  },
  {
    name: "fork namespaces: later commits in nested namespaces stay on their side",
    async run({ open }) {
      const store = await open();
      await commit(store, "t", "r1 a/a1");
      await store.thread("t").fork({ into: "f" });
      await commit(store, "t", "a/a2 b/b1 r2 a/a3");
      await shows(store, "f", { "": "r1", a: "a1" });
      await commit(store, "f", "a/x2 c/x1 x3");
      await shows(store, "f", { "": "x3 r1", a: "x2 a1", c: "x1" });
      await shows(store, "t", { "": "r2 r1", a: "a3 a2 a1", b: "b1" });
      exact((await store.thread("f", { namespace: ["a"] }).get("x2"))?.parent, "a1");
    },
  },
  {
    name: "fork namespaces: a fork shows ancestors only, also where a nested namespace has branches",
    async run({ open }) {
      const store = await open();
      await commit(store, "t", "r1 a/a1 a/a2");
      await store.thread("t", { namespace: ["a"] }).put({ id: "a3", state: {} }, { parent: "a1" });
      await commit(store, "t", "a/a4 r2");
      await store.thread("t", { namespace: ["a"] }).put({ id: "a5", state: {} }, { parent: "a2" });
      await store.thread("t").fork({ at: "r1", into: "f1" });
      await shows(store, "f1", { "": "r1", a: "a4 a3 a1" });
      await store.thread("t").fork({ at: "r2", into: "f2" });
      await shows(store, "f2", { "": "r2 r1", a: "a5 a2 a1" });
    },
  },
  {
    name: "fork namespaces: a fork with edits has the nested namespaces of the chosen checkpoint",
    async run({ open }) {
      const store = await open();
      await commit(store, "t", "r1 a/a1 r2 a/a2");
      const forked = await store.thread("t").fork({ at: "r1", into: "f", edits: { edited: true } });
      const top = (await forked.latest())?.id ?? "";
      await shows(store, "f", { "": `${top} r1`, a: "a1" });
      const nested = await store.thread("f", { namespace: ["a"] }).latest();
      assert.ok((nested?.seq ?? 0) < ((await forked.latest())?.seq ?? 0), "the edit is the last commit");
      await store.thread("f").fork({ at: "r1", into: "g" });
      await shows(store, "g", { "": "r1", a: "a1" });
    },
  },
  {
    name: "fork namespaces: forks of forks see what their source sees",
    async run({ open }) {
      const store = await open();
      await commit(store, "t", "r1 a/a1 r2 a/a2 b/b1");
      await store.thread("t").fork({ at: "r2", into: "f" });
      await commit(store, "f", "a/x1 r3 a/x2 d/y1");
      await commit(store, "t", "a/z1 r9");
      await store.thread("f").fork({ at: "r2", into: "g2" });
      await shows(store, "g2", { "": "r2 r1", a: "x1 a2 a1", b: "b1" });
      await store.thread("f").fork({ at: "r1", into: "g1" });
      await shows(store, "g1", { "": "r1", a: "a1" });
      await store.thread("f").fork({ into: "g3" });
      await shows(store, "g3", { "": "r3 r2 r1", a: "x2 x1 a2 a1", b: "b1", d: "y1" });
      await store.thread("g3").fork({ at: "r2", into: "h" });
      await shows(store, "h", { "": "r2 r1", a: "x1 a2 a1", b: "b1" });
    },
  },
  {
    name: "fork namespaces: many namespaces over sealed history each read back at their own position",
    async run({ open }) {
      const store = await open();
      const at: Record<number, number[]> = {};
      const counts = Array<number>(7).fill(0);
      for (let n = 0; n < 300; n++) {
        if (n % 10 === 0) {
          await store.thread("t").put({ id: `r${n}`, state: { n } });
        } else {
          const index = (n * n) % 7;
          counts[index] = (counts[index] ?? 0) + 1;
          const nested = store.thread("t", { namespace: ["ns", `${index}`] });
          await nested.put({ id: `n${n}`, state: { n, list: Array(counts[index]).fill(n) } });
        }
        at[n] = [...counts];
      }
      for (const root of [0, 60, 130, 280, 290]) {
        const forked = await store.thread("t").fork({ at: `r${root}` });
        for (let index = 0; index < 7; index++) {
          const expected = at[Math.min(root + 9, 299)]?.[index] ?? 0;
          const nested = store.thread(forked.id, { namespace: ["ns", `${index}`] });
          assert.equal(await nested.count(), expected, `ns ${index} at r${root}`);
          exact((await nested.latest())?.state.list.length ?? 0, expected);
          exact((await idsOf(nested)).length, expected);
        }
      }
    },
  },
  {
    name: "fork namespaces: replacements, writes and labels in nested namespaces stay on their side",
    async run({ open }) {
      const store = await open();
      await commit(store, "t", "r1 a/a1 a/a2");
      const nested = store.thread("t", { namespace: ["a"] });
      await nested.putWrites("a1", { task: "t", writes: [{ channel: "c", value: "shared" }] });
      await store.thread("t").fork({ into: "f" });
      const forked = store.thread("f", { namespace: ["a"] });
      const before = await snapshot(store, "f");
      await nested.put({ id: "a1", state: { replaced: true } });
      await nested.label("a2", "mine");
      await nested.putWrites("a1", { task: "u", writes: [{ channel: "c", value: "later" }] });
      exact(await snapshot(store, "f"), before);
      await forked.deleteCheckpoints(["a1"]);
      exact([await nested.count(), await forked.count()], [2, 1]);
      exact((await forked.get("a2"))?.parent, null);
      exact((await nested.get("a1"))?.state, { replaced: true });
      assert.equal((await nested.writes("a1")).length, 2);
    },
  },
  {
    name: "fork: a nested branch that a fork does not show stays hidden when both sides delete its first checkpoint, also after compact",
    async run({ open }) {
      const store = await open();
      const nested = store.thread("t", { namespace: ["a"] });
      await commit(store, "t", "a/a1 a/a2");
      await nested.put({ id: "a3", state: {} }, { parent: "a1" });
      await commit(store, "t", "r1");
      await store.thread("t").fork({ into: "f" });
      for (const id of ["f", "t"]) await store.thread(id, { namespace: ["a"] }).deleteCheckpoints(["a3"]);
      await store.compact();
      for (const reader of [store, await open()]) {
        exact(await idsOf(reader.thread("f", { namespace: ["a"] })), ["a1"]);
        exact(await idsOf(reader.thread("t", { namespace: ["a"] })), ["a2", "a1"]);
      }
      await store.thread("f", { namespace: ["a"] }).deleteCheckpoints(["a1"]);
      await nested.deleteCheckpoints(["a1"]);
      await store.compact();
      for (const reader of [store, await open()]) {
        exact(await idsOf(reader.thread("f", { namespace: ["a"] })), []);
        exact(await idsOf(reader.thread("t", { namespace: ["a"] })), ["a2"]);
      }
    },
  },
];
