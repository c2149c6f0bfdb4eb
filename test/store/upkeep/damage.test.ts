import { beforeAll, describe, expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Store } from "../../../src/api/store.ts";
import type { Answer, Backend, Found, Listed, Read, Value } from "../../../src/backend.ts";
import { type Table, tables } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { ThreadmarkError } from "../../../src/errors.ts";
import { idsOf } from "../../support/collect.ts";
import { sharedBackend } from "../../support/shared-backend.ts";

/** A record's name, as the tests report it. */
type Name = string;

/** Shows a backend with one record damaged, or without it. */
function through(inner: Backend, name: Name, change: (value: Value) => Value | undefined): Backend {
  const show = (record: Name, value: Value): Value | undefined => (record === name ? change(value) : value);
  const answer = (read: Read, found: Answer): Answer => {
    if ("get" in read) {
      const key = read.get;
      if (found === undefined) return found;
      if (key.table === "directory") return show(`directory ${key.id}`, found as Value);
      return show(`${key.table} ${key.group}:${key.item}:${key.part}`, found as Value);
    }
    if ("list" in read) {
      return (found as readonly Listed[]).flatMap(({ id, value }) => {
        const shown = show(`directory ${id}`, value);
        return shown === undefined ? [] : [{ id, value: shown }];
      });
    }
    if (!("scan" in read)) return found;
    const { table, group } = read.scan;
    return (found as readonly Found[]).flatMap(({ item, part, value }) => {
      const shown = show(`${table} ${group}:${item}:${part}`, value);
      return shown === undefined ? [] : [{ item, part, value: shown }];
    });
  };
  return sharedBackend(inner, {
    async read(reads) {
      // The limit is raised by one, because the record that is left out may have been the answer.
      const wide = reads.map((read) => ("limit" in read && read.limit ? { ...read, limit: read.limit + 1 } : read));
      const answers = (await inner.read(wide)).map((found, index) => answer(reads[index] as Read, found));
      return answers.map((found, index) => {
        const read = reads[index] as Read;
        return "limit" in read && read.limit ? (found as readonly Found[]).slice(0, read.limit) : found;
      });
    },
  });
}

function flipped(value: Value): Value {
  const text = value as string;
  const middle = Math.floor((text.length + 10) / 2);
  return text.slice(0, middle) + (text[middle] === "~" ? "!" : "~") + text.slice(middle + 1);
}

async function recordsOf(backend: Backend): Promise<Name[]> {
  const names: Name[] = [];
  const [listed] = (await backend.read([{ list: { limit: 1000 } }])) as readonly [readonly Listed[]];
  const lineages = new Set<number>();
  for (const { id, value } of listed) {
    names.push(`directory ${id}`);
    lineages.add((JSON.parse((value as string).slice(10)) as { lineage: number }).lineage);
  }
  for (const lineage of lineages) {
    const [metas] = (await backend.read([{ scan: { table: "meta", lineage, group: lineage } }])) as readonly Found[][];
    for (const { item: tape } of metas ?? []) {
      names.push(`meta ${lineage}:${tape}:0`);
      for (const table of Object.keys(tables) as Table[]) {
        if (table === "meta") continue;
        const [found] = (await backend.read([{ scan: { table, lineage, group: tape } }])) as readonly Found[][];
        for (const { item, part } of found ?? []) names.push(`${table} ${tape}:${item}:${part}`);
      }
    }
  }
  return names;
}

/** Every checkpoint of every thread, with its writes, as text. */
type Truth = ReadonlyMap<string, ReadonlyMap<string, string>>;

const ids = { sound: 3, plain: 72, forked: 70, fork: 0 } as const;

async function read(store: Store, thread: string, id: string, namespace: string[]): Promise<string> {
  const handle = store.thread(thread, { namespace });
  return JSON.stringify([await handle.get(id), await handle.writes(id)]);
}

async function filled(): Promise<{ backend: Backend; truth: Truth }> {
  const backend = memory();
  const store = await open(backend);
  for (const [id, count] of Object.entries(ids)) {
    const thread = store.thread(id);
    for (let n = 0; n < count; n += 1) {
      const state = { n, list: Array.from({ length: n % 9 }, () => n), text: `step ${n}` };
      await thread.put({ state, ...(n % 2 === 0 && { id: `own-${n}` }) });
      if (n % 40 === 7) await store.thread(id, { namespace: ["sub"] }).put({ id: `sub-${n}`, state: { sub: n } });
      if (n % 40 === 8) await thread.putWrites(`own-${n}`, { task: "k", writes: [{ channel: "c", value: n }] });
    }
  }
  await store.thread("forked").fork({ at: "own-66", into: "fork" });
  await store.thread("fork").put({ id: "on-top", update: { set: { n: -1 } } });
  await store.thread("plain").put({ id: "own-20", state: { replaced: true } });
  const truth = new Map<string, Map<string, string>>();
  for (const thread of Object.keys(ids)) {
    const checkpoints = new Map<string, string>();
    for (const namespace of [[], ["sub"]]) {
      for await (const { id } of store.thread(thread, { namespace }).history())
        checkpoints.set(JSON.stringify([id, namespace]), await read(store, thread, id, namespace));
    }
    truth.set(thread, checkpoints);
  }
  return { backend, truth };
}

const isCorrupt = (error: unknown): error is ThreadmarkError =>
  error instanceof ThreadmarkError && error.code === "CORRUPT";

describe("a damaged record", () => {
  let backend: Backend;
  let truth: Truth;
  let names: readonly Name[];
  beforeAll(async () => {
    ({ backend, truth } = await filled());
    // Of the many that are alike, some.
    names = (await recordsOf(backend)).filter((name, index) => !/^(tail|id) /.test(name) || index % 7 === 0);
  });

  test("a damaged record is found by verify, wherever it is", async () => {
    for (const name of names) {
      const { ok, faults } = await (await open(through(backend, name, flipped))).verify();
      expect(ok, name).toBe(false);
      for (const { thread } of faults) expect(Object.keys(ids), name).toContain(thread);
    }
  });

  test("a missing record is found by verify, unless no other record refers to it", async () => {
    const silent = new Set<Name>();
    for (const name of names) {
      const { ok } = await (await open(through(backend, name, () => undefined))).verify();
      if (ok) silent.add(name.split(" ")[0] as string);
    }
    // A thread nobody names, the newest record of a tape, a write, a replacement, the shortcut to a nested head.
    expect([...silent].filter((table) => !["directory", "tail", "write", "mark", "head"].includes(table))).toEqual([]);
  });

  test("a damaged record makes reads that need it CORRUPT, with thread and frame, and no others", async () => {
    for (const name of names) {
      const store = await open(through(backend, name, flipped));
      let broken = 0;
      for (const [thread, checkpoints] of truth) {
        for (const [key, whole] of checkpoints) {
          const [id, namespace] = JSON.parse(key) as [string, string[]];
          try {
            expect(await read(store, thread, id, namespace), `${name}: ${thread} ${id}`).toBe(whole);
          } catch (error) {
            if (!isCorrupt(error)) throw error;
            expect(error.thread, `${name}: ${error.message}`).toBeDefined();
            if (/^(tail|rows|net|steps) /.test(name)) expect(error.frame, `${name}: ${error.message}`).toBeDefined();
            broken += 1;
          }
        }
      }
      // A damaged record of a tail hides at most a fork, which cannot tell its ancestors; the ancestors' thread still reads.
      if (name.startsWith("tail")) expect(broken, name).toBeLessThan(80);
    }
  });

  test("a damaged record does not keep other threads from being listed and counted", async () => {
    const all = Object.keys(ids).sort();
    for (const name of names) {
      const store = await open(through(backend, name, flipped));
      const listed = await idsOf(store.threads());
      // The fork builds on another thread: these two may go together.
      expect(all.filter((id) => !listed.includes(id)).length, name).toBeLessThanOrEqual(2);
      expect((await store.stats()).threads, name).toBeGreaterThanOrEqual(2);
    }
  });
});

test("an unreadable tail record is named, the rows before and beside it can be read, and no put builds on it", async () => {
  const backend = memory();
  const whole = (await open(backend)).thread("t");
  const put = [];
  for (let n = 0; n < 10; n += 1) put.push(await whole.put({ id: `c${n}`, state: { n, [`k${n}`]: "x".repeat(50) } }));
  const name = (await recordsOf(backend)).find((record) => record.startsWith("tail") && record.endsWith(":5:0"));
  const store = await open(through(backend, name ?? "", flipped));
  const thread = store.thread("t");
  expect((await thread.get("c3"))?.state).toMatchObject({ n: 3 });
  for (const id of ["c4", "c5", "c9"]) {
    await expect(thread.get(id), id).rejects.toMatchObject({
      code: "CORRUPT",
      thread: "t",
      checkpoint: id,
      frame: expect.stringMatching(/:5$/) as string,
    });
  }
  await expect(thread.put({ state: {} })).rejects.toMatchObject({ code: "CORRUPT" });
  await expect(thread.prune({ keepLast: 1 })).rejects.toMatchObject({ code: "CORRUPT" });
  await expect(store.compact()).rejects.toMatchObject({ code: "CORRUPT" });
  const fork = await thread.fork({ at: "c3", into: "f" });
  await fork.put({ update: { set: { n: 4 } } });
  expect((await fork.latest())?.state).toMatchObject({ n: 4, k3: expect.any(String) as string });
  const { faults } = await store.verify();
  expect(faults.filter(({ checkpoint }) => checkpoint !== null).map(({ checkpoint }) => checkpoint)).toEqual([
    "c9",
    "c8",
    "c7",
    "c6",
    "c5",
    // The damaged record may hold writes against the checkpoint before it, which the fork shows, too.
    "c3",
    "c3",
  ]);
});

test("a fork is counted and listed even if rows are damaged that its source put later", async () => {
  const backend = memory();
  const source = (await open(backend, { packRows: 4 })).thread("source");
  for (let n = 1; n <= 30; n += 1) await source.put({ id: `c${n}`, state: { n } });
  await source.fork({ at: "c3", into: "fork" });
  const names = (await recordsOf(backend)).filter((name) => /^(tail|rows) /.test(name));
  const later = names.filter((name) => Number(name.split(":")[1]) > 4);
  expect(later.length).toBeGreaterThan(6);
  for (const name of later) {
    expect(await (await open(through(backend, name, flipped))).thread("fork").count(), name).toBe(3);
    const listed = await idsOf((await open(through(backend, name, flipped))).threads());
    expect(listed, name).toContain("fork");
  }
});
