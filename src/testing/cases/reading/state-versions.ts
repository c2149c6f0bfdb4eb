import assert from "node:assert/strict";
import type { Case } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { failsWith } from "../../support/failures.ts";
import { collect } from "../../support/snapshot.ts";

const migrate = {
  1: ({ name, ...rest }: { name: string }) => ({ ...rest, names: [name] }),
  2: (state: { names: string[] }) => ({ ...state, count: state.names.length }),
};
const third = { schema: { version: 3, migrate } };

export const stateVersions: readonly Case[] = [
  {
    name: "state versions: every read gives an older state as the program's version has it, and nothing is written",
    async run({ open }) {
      const old = await open();
      const thread = old.thread("t");
      const first = await thread.put({ state: { name: "ada" } });
      const asked = await thread.put({
        update: { set: { name: "bob" } },
        next: ["ask"],
        interrupts: [{ id: "q", node: "ask", value: "?" }],
      });
      await thread.fork({ into: "fork" });
      await old.close();
      const store = await open(third);
      const [one, two] = [
        { names: ["ada"], count: 1 },
        { names: ["bob"], count: 1 },
      ];
      const newer = store.thread("t");
      exact((await newer.latest())?.state, two);
      exact((await newer.get(first.id))?.state, one);
      exact((await newer.get({ step: 0 }))?.state, one);
      exact((await newer.tuple(first.id))?.checkpoint.state, one);
      exact(
        (await collect(newer.history({ states: true }))).map(({ state }) => state),
        [two, one],
      );
      exact(await newer.diff(first.id, asked.id), [
        { path: ["names", 0], kind: "changed", before: "ada", after: "bob" },
      ]);
      exact((await store.thread("fork").latest())?.state, two);
      exact((await collect(store.interrupts())).map(({ thread: of, id }) => `${of} ${id}`).sort(), ["fork q", "t q"]);
      exact((await newer.latest())?.stateVersion, 0);
      exact(await newer.count(), 2);
      await store.close();
      const plain = await open();
      exact((await plain.thread("t").latest())?.state, { name: "bob" });
    },
  },
  {
    name: "state versions: updates, patches and edits apply to the migrated state and store the new version; older programs are VERSION",
    async run({ open }) {
      const old = await open();
      for (const id of ["t", "u"]) await old.thread(id).put({ state: { name: "ada" } });
      await old.close();
      const store = await open(third);
      const put = await store.thread("t").put({ update: { append: { names: ["bob"] }, set: { count: 2 } } });
      exact([put.stateVersion, (await store.thread("t").latest())?.state], [3, { names: ["ada", "bob"], count: 2 }]);
      const patched = await store.thread("u").put({ update: { patch: [[["names", 0], "eve"]] } });
      exact([patched.stateVersion, (await store.thread("u").latest())?.state], [3, { names: ["eve"], count: 1 }]);
      const fork = await store.thread("t").fork({ at: { step: 0 }, into: "f", edits: { count: 9 } });
      exact((await fork.latest())?.state, { names: ["ada"], count: 9 });
      exact((await store.thread("t").get({ step: 0 }))?.stateVersion, 0);
      await store.close();
      const older = await open({ schema: { version: 2, migrate: { 1: migrate[1] } } });
      for (const work of [
        () => older.thread("t").latest(),
        () => older.thread("t").put({ update: { set: { count: 0 } } }),
        () => older.thread("t").put({ state: {} }),
      ]) {
        const { thread, checkpoint, message } = await failsWith("VERSION", work);
        exact([thread, checkpoint], ["t", put.id]);
        assert.match(message, /version 3/);
      }
      exact(await older.thread("t").count(), 2);
      exact((await older.verify()).faults, []);
    },
  },
  {
    name: "state versions: a migration that throws, is missing or fails its check is VERSION, and nothing is written",
    async run({ open }) {
      const old = await open();
      const put = await old.thread("t").put({ state: { name: "ada" } });
      await old.close();
      const check = {
        "~standard": {
          version: 1,
          vendor: "kit",
          validate: () => ({ issues: [{ message: "no count" }] }),
        },
      } as const;
      for (const schema of [
        { version: 2, migrate: { 1: () => assert.fail("broken") } },
        { version: 2, migrate: { 1: async () => ({}) } },
        { version: 2, migrate: { 1: () => undefined } },
        { version: 2, migrate: { 1: migrate[1] }, check },
      ]) {
        const store = await open({ schema: schema as never });
        const { thread, checkpoint } = await failsWith("VERSION", () => store.thread("t").latest());
        exact([thread, checkpoint], ["t", put.id]);
        await failsWith("VERSION", () => store.thread("t").put({ update: { set: { a: 1 } } }));
        exact(await store.thread("t").count(), 1);
        await store.close();
      }
    },
  },
];
