import assert from "node:assert/strict";
import { mailboxOf } from "../../../api/mailbox.ts";
import type { Store } from "../../../api/store.ts";
import type { Case, Free } from "../../case.ts";
import { smallPacks } from "../../support/conversation.ts";
import { exact } from "../../support/exact.ts";
import { failsWith, isMisuse } from "../../support/failures.ts";
import { snapshot } from "../../support/snapshot.ts";

const secret = "alice@example.com";

/** Puts a history with the secret in every part of it, in packs and in the tail. */
async function fill(store: Store<Free>): Promise<string> {
  const thread = store.thread("t");
  let last = "";
  for (let n = 0; n < 11; n += 1) {
    const { id } = await thread.put({
      state: {
        user: { email: secret, n },
        messages: Array.from({ length: n }, (_, at) => (at === 2 ? `write to ${secret}!` : `message ${at}`)),
        document: `${"long ".repeat(2000)}${secret}`,
        map: new Map([[secret, n]]),
        [secret]: true,
      },
      metadata: { who: [secret] },
      label: n === 4 ? `for ${secret}` : "",
      attributes: { mail: secret, tenant: "acme" },
      next: [{ node: "act", arg: { to: secret } }],
    });
    last = id;
  }
  await thread.putWrites(last, {
    task: "t1",
    writes: [
      { channel: "user", value: { email: secret } },
      { channel: "text", value: `${"w".repeat(9000)}${secret}` },
    ],
  });
  await mailboxOf(thread).send({ id: "m1", kind: "signal", name: "said", payload: { from: secret } });
  await store
    .thread("t", { namespace: ["nested"] })
    .put({ state: { user: { email: secret }, deep: [{ to: secret }] } });
  return last;
}

async function textOf(store: Store<Free>): Promise<string> {
  let text = "";
  for await (const line of store.export()) text += line;
  return text;
}

export const erase: readonly Case[] = [
  {
    name: "erase: a value goes from states, writes, labels, metadata, attributes, mail and large values, and all else stays",
    async run({ open }) {
      const store = await open(smallPacks);
      const last = await fill(store);
      const thread = store.thread("t");
      const before = (await snapshot(store, "t")) as unknown;
      const { erased } = await thread.erase(["user", "email"]);
      const parts = new Set(erased.map(({ part }) => part));
      exact([...parts].sort(), ["attribute", "checkpoint", "label", "mail", "metadata", "state", "write"]);
      const isPath = (path: readonly unknown[]): boolean => JSON.stringify(path) === '["user","email"]';
      assert.equal(erased.filter(({ part, path }) => part === "state" && isPath(path)).length, 12);
      const head = await thread.latest();
      exact(head?.state["user"], { email: "[erased]", n: 10 });
      exact(head?.state["messages"].slice(0, 4), ["message 0", "message 1", "write to [erased]!", "message 3"]);
      exact([head?.state["map"], head?.state["[erased]"]], [new Map([["[erased]", 10]]), true]);
      exact([head?.metadata, head?.next], [{ who: ["[erased]"] }, [{ node: "act", arg: { to: "[erased]" } }]]);
      exact((await thread.get({ step: 4 }))?.label, "for [erased]");
      exact((await thread.writes(last))[0]?.value, { email: "[erased]" });
      exact(await thread.attributes(), { mail: "[erased]", tenant: "acme" });
      const found: string[] = [];
      for await (const { id } of store.threads({ where: { mail: "[erased]" } })) found.push(id);
      exact(found, ["t"]);
      const unlike = JSON.stringify(before).replaceAll(secret, "[erased]");
      exact(JSON.stringify(await snapshot(store, "t")), unlike);
      assert.ok(!(await textOf(store)).includes(secret), "the bundle has it");
      exact((await store.verify()).faults, []);
      exact((await thread.erase(["user", "email"])).erased, []);
      await thread.put({ update: { append: { messages: ["more"] } } });
      exact((await (await open()).thread("t").latest())?.state["messages"].length, 11);
      await store.compact();
      exact((await store.verify()).faults, []);
    },
  },
  {
    name: "erase: forks and copies that show the value are a CONFLICT, and with forks it goes from all of them",
    async run({ open }) {
      const store = await open(smallPacks);
      await fill(store);
      const thread = store.thread("t");
      const fork = await thread.fork({ at: { step: 5 }, into: "fork", edits: { own: secret } });
      const copy = await thread.copy("copy");
      await thread.put({ id: (await thread.latest())?.id as string, state: { replaced: secret } });
      const before = await textOf(store);
      await failsWith("CONFLICT", () => thread.erase(["user", "email"]));
      exact(await textOf(store), before);
      const { erased } = await fork.erase([["user", "email"]], { forks: true });
      exact([...new Set(erased.map((place) => place.thread))].sort(), ["copy", "fork", "t"]);
      exact(
        [(await fork.latest())?.state["own"], (await thread.latest())?.state["replaced"]],
        ["[erased]", "[erased]"],
      );
      exact((await copy.latest())?.state["user"], { email: "[erased]", n: 10 });
      assert.ok(!(await textOf(store)).includes(secret), "the bundle has it");
      await store.compact();
      exact((await store.verify()).faults, []);
    },
  },
  {
    name: "erase: a function picks values by path and part; lists, dates and short values at a path go, copies of short ones stay",
    async run({ open }) {
      const store = await open(smallPacks);
      const thread = store.thread("t");
      const born = new Date(0);
      for (let n = 0; n < 6; n += 1) {
        await thread.put({
          state: { n, pin: "1234", again: "1234", born, list: [{ a: 1 }, { b: [2] }], other: { b: [2] } },
        });
      }
      await thread.erase([["pin"], ["born"], ["list", 1]]);
      exact((await thread.get({ step: 3 }))?.state, {
        n: 3,
        pin: "[erased]",
        again: "1234",
        born: "[erased]",
        list: [{ a: 1 }, "[erased]"],
        other: "[erased]",
      });
      const { erased } = await thread.erase((path, value, part) => part === "state" && path[0] === "n" && value === 4);
      exact(
        erased.map(({ path, part }) => [path, part]),
        [[["n"], "state"]],
      );
      const states: unknown[] = [];
      for await (const { state } of thread.history({ states: true })) states.unshift(state["n"]);
      exact(states, [0, 1, 2, 3, "[erased]", 5]);
      exact((await store.verify()).faults, []);
    },
  },
  {
    name: "erase: commits during an erasure are neither lost nor spared",
    async run({ open }) {
      const store = await open(smallPacks);
      await fill(store);
      const thread = store.thread("t");
      const puts = Promise.all(
        Array.from({ length: 20 }, (_, n) => thread.put({ update: { set: { [`k${n}`]: `${n} ${secret}` } } })),
      );
      await thread.erase(["user", "email"]);
      await puts;
      await thread.erase((_, value) => typeof value === "string" && value.includes(secret));
      const { state } = (await thread.latest()) as { state: Free };
      exact(
        Array.from({ length: 20 }, (_, n) => [`${n} [erased]`, "[erased]"].includes(state[`k${n}`])),
        Array.from({ length: 20 }, () => true),
      );
      exact((await store.verify()).faults, []);
    },
  },
  {
    name: "erase: watchers are told of every thread whose history was changed",
    async run({ open }) {
      const store = await open(smallPacks);
      await fill(store);
      await store.thread("t").fork({ into: "told" });
      const changes = store.watch({ kinds: ["erase"], signal: AbortSignal.timeout(20_000) });
      await store.thread("t").erase(["user", "email"], { forks: true });
      const told = new Set<string>();
      for await (const { thread } of changes) {
        told.add(thread);
        if (told.has("t") && told.has("told")) break;
      }
      exact(told.has("t") && told.has("told"), true);
    },
  },
  {
    name: "erase: wrong arguments are a TypeError, an unknown thread is NOT_FOUND",
    async run({ open }) {
      const store = await open();
      const thread = store.thread("t");
      for (const wrong of [[], [[]], "user", [["a"], []], [-1], [null], undefined]) {
        await isMisuse(() => thread.erase(wrong as never), JSON.stringify(wrong));
      }
      await isMisuse(() => thread.erase(["a"], { fork: true } as never));
      await isMisuse(() => store.thread("t", { namespace: ["n"] }).erase(["a"]));
      await failsWith("NOT_FOUND", () => thread.erase(["a"]));
    },
  },
];
