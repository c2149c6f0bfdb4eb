import assert from "node:assert/strict";
import type { Case } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { isMisuse } from "../../support/failures.ts";
import { idsOf, snapshot } from "../../support/snapshot.ts";

const nestedOf = (namespaces: readonly (readonly string[])[]): string[] =>
  namespaces
    .filter((namespace) => namespace.length > 0)
    .map((namespace) => JSON.stringify(namespace))
    .sort();

export const namespaces: readonly Case[] = [
  {
    name: "namespaces: every namespace has its own head, ids and parents",
    async run({ open }) {
      const store = await open();
      const paths = [[], ["a"], ["a", "b"], ["b"], ["a", "b", "c"]];
      for (let round = 0; round < 3; round++) {
        for (const [index, namespace] of paths.entries()) {
          const thread = store.thread("t", { namespace });
          await thread.put({ id: `c${round}`, state: { round, index } });
        }
      }
      for (const [index, namespace] of paths.entries()) {
        const thread = store.thread("t", { namespace });
        exact(await idsOf(thread), ["c2", "c1", "c0"]);
        const head = await thread.latest();
        exact([head?.state, head?.parent, head?.namespace, head?.step], [{ round: 2, index }, "c1", namespace, 2]);
        assert.equal(await thread.count(), 3);
      }
      exact(nestedOf(await store.thread("t").namespaces()), nestedOf(paths));
    },
  },
  {
    name: "namespaces: parts are never confused with each other, with the thread's id or with the checkpoint's",
    async run({ open }) {
      const store = await open();
      const places: [string, string[]][] = [
        ["b:c", ["a"]],
        ["c", ["a", "b"]],
        ["c", ["a:b"]],
        ["c", ["a/b"]],
        ["c", ["a|b"]],
        ["c", ["a", "b", "c"]],
        ["c", ["ab"]],
        ["c", ["a\u0001b"]],
        ["c", ['a","b']],
        ["c", ["a b"]],
        ["c", ["b", "a"]],
        ["a", ["b", "c"]],
        ["c", ["\u{1f600}", "é"]],
        ["c", ["."]],
        ["c", ["../.."]],
      ];
      for (const [index, [id, namespace]] of places.entries()) {
        const thread = store.thread(id, { namespace });
        await thread.put({ id: "x", state: { index } }, { expect: null });
        await thread.putWrites("x", { task: "t", writes: [{ channel: "c", value: index }] });
      }
      for (const reader of [store, await open()]) {
        for (const [index, [id, namespace]] of places.entries()) {
          const thread = reader.thread(id, { namespace });
          exact([(await thread.latest())?.state, await thread.count()], [{ index }, 1]);
          exact((await thread.latest())?.namespace, namespace);
          exact(
            (await thread.writes("x")).map(({ value }) => value),
            [index],
          );
        }
        const listed = places.filter(([id]) => id === "c").map(([, namespace]) => namespace);
        exact(nestedOf(await reader.thread("c").namespaces()), nestedOf(listed));
      }
    },
  },
  {
    name: "namespaces: fork, copy, acquire and delete on a nested handle are a TypeError",
    async run({ open }) {
      const store = await open();
      const nested = store.thread("t", { namespace: ["sub"] });
      await nested.put({ id: "a", state: {} });
      const before = await snapshot(store, "t");
      await isMisuse(() => nested.fork({ into: "f" }), "fork");
      await isMisuse(() => nested.copy("f"), "copy");
      await isMisuse(() => nested.acquire({ holder: "a", ttl: 1000 }), "acquire");
      await isMisuse(() => nested.delete(), "delete");
      exact(await snapshot(store, "t"), before);
      for await (const { id } of store.threads()) assert.equal(id, "t");
    },
  },
  {
    name: "namespaces: a thread may have nested namespaces only",
    async run({ open }) {
      const store = await open();
      const nested = store.thread("t", { namespace: ["sub"] });
      await nested.put({ id: "a", state: { n: 1 } });
      const root = store.thread("t");
      assert.equal(await root.latest(), undefined);
      assert.equal(await root.count(), 0);
      exact(nestedOf(await root.namespaces()), ['["sub"]']);
      await nested.deleteCheckpoints(["a"]);
      exact(await root.namespaces(), []);
      await root.put({ state: {} }, { expect: null });
    },
  },
  {
    name: "namespaces: a part may have up to 512 bytes and a namespace 1,024; more, empty or NUL is a TypeError",
    async run({ open }) {
      const store = await open();
      for (const namespace of [
        ["x".repeat(512)],
        ["x".repeat(512), "y".repeat(512)],
        ["é".repeat(256)],
        Array(64).fill("p"),
      ]) {
        const thread = store.thread("t", { namespace });
        await thread.put({ state: { length: namespace.length } });
        exact((await thread.latest())?.namespace, namespace);
      }
      const wrong = [
        ["x".repeat(513)],
        ["é".repeat(257)],
        [""],
        ["a", ""],
        ["a\0b"],
        ["\ud800"],
        [5],
        "a",
        ["a", undefined],
      ];
      for (const namespace of [...wrong, ["x".repeat(512), "y".repeat(512), "z"]]) {
        await isMisuse(() => store.thread("t", { namespace: namespace as string[] }).put({ state: {} }));
      }
    },
  },
];
