import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { memory } from "../../../src/backends/memory/index.ts";
import { open, type StateSchemas, type Store, ThreadmarkError } from "../../../src/index.ts";
import { collect } from "../../support/collect.ts";
import { memoryUnderTest, sqliteUnderTest } from "../../support/places.ts";
import { sharedBackend } from "../../support/shared-backend.ts";

/** Version 1 has `name`, version 2 `names`, version 3 also `count`. */
const migrate = {
  1: ({ name, ...rest }: { name: string }) => ({ ...rest, names: [name] }),
  2: (state: { names: string[] }) => ({ ...state, count: state.names.length }),
};
const third: StateSchemas = { version: 3, migrate };

type State = Record<string, unknown>;

async function withStores(
  work: (under: (schema?: StateSchemas) => Promise<Store<State>>) => Promise<void>,
  under = memoryUnderTest,
): Promise<void> {
  const place = await under.make();
  const opened: Store<State>[] = [];
  try {
    await work(async (schema) => {
      const store = (await open(place.url, { ...place.options, ...(schema && { schema }) })) as Store<State>;
      opened.push(store);
      return store;
    });
  } finally {
    for (const store of opened) await store.close();
    await place.cleanup();
  }
}

async function failureOf(work: Promise<unknown>): Promise<ThreadmarkError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ThreadmarkError);
  return error as ThreadmarkError;
}

describe.each([memoryUnderTest, sqliteUnderTest])("on $name", (under) => {
  test("a state of an older version is read as the program's version has it, and stays stored as it was", () =>
    withStores(async (open) => {
      const old = await open();
      const put = await old.thread("t").put({ state: { name: "ada", rest: 1 } });
      const store = await open(third);
      const thread = store.thread("t");
      const expected = { rest: 1, names: ["ada"], count: 1 };
      expect((await thread.latest())?.state).toEqual(expected);
      expect((await thread.get(put.id))?.state).toEqual(expected);
      expect((await thread.tuple())?.checkpoint.state).toEqual(expected);
      expect((await collect(thread.history({ states: true }))).map(({ state }) => state)).toEqual([expected]);
      expect((await thread.latest())?.stateVersion).toBe(0);
      expect((await old.thread("t").latest())?.state).toEqual({ name: "ada", rest: 1 });
    }, under));

  test("an update of an older head applies to the migrated state, and writes the new version", () =>
    withStores(async (open) => {
      const old = await open();
      await old.thread("t").put({ state: { name: "ada", log: ["a"], gone: true } });
      const thread = (await open(third)).thread("t");
      const info = await thread.put({
        update: { append: { names: ["bob"], log: ["b"] }, set: { count: 2 }, unset: ["gone"] },
      });
      expect(info.stateVersion).toBe(3);
      const expected = { names: ["ada", "bob"], log: ["a", "b"], count: 2 };
      expect((await thread.latest())?.state).toEqual(expected);
      await thread.put({ update: { append: { names: ["cid"] } } });
      const states = (await collect(thread.history({ states: true }))).map(({ state }) => state);
      expect(states).toEqual([
        { ...expected, names: ["ada", "bob", "cid"] },
        expected,
        { log: ["a"], gone: true, names: ["ada"], count: 1 },
      ]);
      expect((await thread.diff({ seq: 1 }, { seq: 2 })).map(({ path }) => path.join("."))).toContain("gone");
    }, under));

  test("a fork of an older checkpoint with edits is migrated, and its source is not", () =>
    withStores(async (open) => {
      const old = await open();
      await old.thread("t").put({ state: { name: "ada" } });
      const store = await open(third);
      const fork = await store.thread("t").fork({ edits: { count: 9 } });
      const head = await fork.latest();
      expect([head?.state, head?.stateVersion]).toEqual([{ names: ["ada"], count: 9 }, 3]);
      expect((await old.thread("t").latest())?.state).toEqual({ name: "ada" });
      const plain = await store.thread("t").fork({});
      expect((await plain.latest())?.stateVersion).toBe(0);
      expect((await plain.latest())?.state).toEqual({ names: ["ada"], count: 1 });
    }, under));

  test("an older program is refused what a newer one wrote, by name, and writes nothing", () =>
    withStores(async (open) => {
      const newer = await open(third);
      const put = await newer.thread("t").put({ state: { names: [], count: 0 } });
      const older = await open({ version: 2, migrate: { 1: migrate[1] } });
      for (const work of [
        older.thread("t").latest(),
        older.thread("t").put({ update: { set: { count: 1 } } }),
        older.thread("t").put({ state: {} }),
        older.thread("t").put({ state: {}, id: put.id }),
        older.thread("t").fork({ edits: { count: 1 } }),
      ]) {
        const error = await failureOf(work);
        expect(error.code).toBe("VERSION");
        expect(error.message).toMatch(/"t".*version 3.*version(s up to)? 2/);
        expect(error.checkpoint).toBe(put.id);
      }
      // It is judged by checkpoint, not at open: other threads go on.
      await older.thread("other").put({ state: { names: [] } });
      expect(await newer.thread("t").count()).toBe(1);
      expect((await collect(newer.threads())).map(({ id }) => id)).toEqual(["other", "t"]);
    }, under));
});

test("a migration that throws, is missing or does not fit names thread, checkpoint and version, and nothing is written", () =>
  withStores(async (open) => {
    const old = await open();
    const { id } = await old.thread("t").put({ state: { name: "ada" } });
    const faults: [StateSchemas, RegExp][] = [
      [{ version: 3, migrate: { 1: migrate[1] } }, /from version 2: there is no migrate\[2\]/],
      [
        {
          version: 2,
          migrate: {
            1: () => {
              throw new Error("no such field");
            },
          },
        },
        /from version 1: migrate\[1\] threw: no such field/,
      ],
      [{ version: 2, migrate: { 1: async (state: unknown) => state } }, /migrate\[1\] returned a promise/],
      [
        { version: 2, migrate: { 1: migrate[1] }, check: z.object({ names: z.array(z.number()) }) },
        /from version 1: the migrated state does not fit: names\.0: /,
      ],
    ];
    for (const [schema, fault] of faults) {
      const thread = (await open(schema)).thread("t");
      for (const work of [
        thread.latest(),
        thread.put({ update: { set: { a: 1 } } }),
        thread.fork({ edits: { a: 1 } }),
      ]) {
        const error = await failureOf(work);
        expect([error.code, error.thread, error.checkpoint]).toEqual(["VERSION", "t", id]);
        expect(error.message).toMatch(fault);
      }
      expect(await thread.count()).toBe(1);
    }
  }));

test("the output of a schema's check becomes the state, with its defaults", () =>
  withStores(async (open) => {
    await (await open()).thread("t").put({ state: { name: "ada" } });
    const check = z.object({ names: z.array(z.string()), tone: z.string().default("kind") });
    const store = await open({ version: 2, migrate: { 1: migrate[1] }, check });
    expect((await store.thread("t").latest())?.state).toEqual({ names: ["ada"], tone: "kind" });
  }));

test("the schema of a workflow applies to that workflow, and the general one to the root of all others", () =>
  withStores(async (open) => {
    const old = await open();
    for (const workflow of ["chat", "jobs"]) await old.thread(workflow).put({ state: { name: "ada" }, workflow });
    await old.thread("plain").put({ state: { name: "ada" } });
    await old.thread("plain", { namespace: ["sub"] }).put({ state: { name: "nested" } });
    const store = await open({
      version: 2,
      migrate: { 1: migrate[1] },
      workflows: { chat: { version: 1 }, jobs: third as never },
    });
    const states = async (id: string, namespace: string[] = []): Promise<unknown> =>
      (await store.thread(id, { namespace }).latest())?.state;
    expect(await states("chat")).toEqual({ name: "ada" });
    expect(await states("jobs")).toEqual({ names: ["ada"], count: 1 });
    expect(await states("plain")).toEqual({ names: ["ada"] });
    expect(await states("plain", ["sub"])).toEqual({ name: "nested" });
    const only = await open({ workflows: { jobs: third as never } });
    expect((await only.thread("plain").latest())?.state).toEqual({ name: "ada" });
    expect((await only.thread("new").put({ state: {}, workflow: "jobs" })).stateVersion).toBe(3);
    expect((await only.thread("newer").put({ state: {} })).stateVersion).toBe(0);
  }));

test("a stateVersion given to put must be the schema's", () =>
  withStores(async (open) => {
    const store = await open(third);
    await expect(store.thread("t").put({ state: {}, stateVersion: 2 })).rejects.toThrow(/this store writes version 3/);
    expect((await store.thread("t").put({ state: {}, stateVersion: 3 })).stateVersion).toBe(3);
  }));

test("replacing an older checkpoint by an update migrates its parent first", () =>
  withStores(async (open) => {
    const old = await open();
    await old.thread("t").put({ state: { name: "ada" } });
    const second = await old.thread("t").put({ state: { name: "bob" } });
    const thread = (await open(third)).thread("t");
    await thread.put({ id: second.id, update: { set: { count: 7 } } });
    expect((await thread.get(second.id))?.state).toEqual({ names: ["ada"], count: 7 });
    expect((await thread.get(second.id))?.stateVersion).toBe(3);
  }));

test("schemas that make no sense are refused at open", async () => {
  const wrong: [unknown, RegExp][] = [
    [{}, /schema\.version must be an integer of at least 1/],
    [{ version: 0 }, /schema\.version must be an integer of at least 1/],
    [{ version: 2, migrate: { 2: () => ({}) } }, /is no version to migrate from: with version 2, versions are 1 to 1/],
    [{ version: 2, migrate: { 0: () => ({}) } }, /is no version to migrate from/],
    [{ version: 2, migrate: { 1: "x" } }, /must be a function of the state/],
    [{ version: 2, check: () => true }, /must be a Standard Schema/],
    [{ version: 2, migrations: {} }, /unknown key "migrations"/],
    [{ workflows: { chat: { version: "2" } } }, /workflows\["chat"\]\.version/],
    [{ workflows: { chat: { version: 2, workflows: {} } } }, /unknown key "workflows"/],
    ["name", /must be an object/],
  ];
  for (const [schema, message] of wrong) {
    await expect(open("memory:", { schema } as never)).rejects.toThrow(message);
  }
});

test("whatever was put under versions 1 to 4, every checkpoint reads as the newest version has it", async () => {
  // Version n has a list with the numbers 1 to n; each migration adds the next.
  const upTo = (version: number): StateSchemas => ({
    version,
    migrate: Object.fromEntries(
      Array.from({ length: version - 1 }, (_, index) => [
        index + 1,
        (state: { list: number[] }) => ({ ...state, list: [...state.list, index + 2] }),
      ]),
    ),
  });
  const command = fc.record({
    version: fc.integer({ min: 1, max: 4 }),
    kind: fc.constantFrom("state", "update", "fork"),
    value: fc.integer(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 12 }), async (commands) => {
      const backend = memory();
      const shared = sharedBackend(backend);
      let newest = 0;
      let value: unknown;
      let thread = "t";
      for (const [index, { version, kind, value: given }] of commands.entries()) {
        const store = (await open(shared, { schema: upTo(version) })) as Store<State>;
        const list = Array.from({ length: version }, (_, at) => at + 1);
        const isRefused = version < newest;
        let work: Promise<unknown>;
        if (index === 0 || kind === "state") work = store.thread(thread).put({ state: { list, value: given } });
        else if (kind === "update") work = store.thread(thread).put({ update: { set: { value: given } } });
        else work = store.thread(thread).fork({ into: `${thread}f`, edits: { value: given } });
        const outcome = await work.then(
          () => "done",
          (error: unknown) => (error as ThreadmarkError).code,
        );
        expect(outcome).toBe(isRefused ? "VERSION" : "done");
        if (!isRefused) {
          newest = version;
          value = given;
          if (index > 0 && kind === "fork") thread += "f";
          expect((await store.thread(thread).latest())?.state).toEqual({ list, value });
        }
        await store.close();
      }
      const store = (await open(shared, { schema: upTo(4) })) as Store<State>;
      for (const { state } of await collect(store.thread(thread).history({ states: true }))) {
        expect((state as { list: number[] }).list).toEqual([1, 2, 3, 4]);
      }
      expect((await store.thread(thread).latest())?.state).toMatchObject({ value });
      await store.close();
      await backend.close();
    }),
    { numRuns: 60 },
  );
});
