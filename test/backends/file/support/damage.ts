import assert from "node:assert/strict";
import type { Backend, Batch, DirectoryKey, Found, Key, Listed, Read, Value } from "../../../../src/backend.ts";
import { file } from "../../../../src/backends/file/index.ts";
import { recordText } from "../../../support/texts.ts";
import { seeded } from "./random.ts";
import { SimulatedDisk } from "./simulated-disk.ts";

type AnyKey = Key | DirectoryKey;

/** A store whose whole history is known. */
export interface Specimen {
  readonly disk: SimulatedDisk;
  /** All keys that were ever there. */
  readonly keys: readonly AnyKey[];
  /** The value of each key before the last batch of its journal, and now. */
  readonly before: ReadonlyMap<string, Value | undefined>;
  readonly now: ReadonlyMap<string, Value | undefined>;
}

const at = (table: Key["table"], lineage: number, item: number, part = 0): Key => ({
  table,
  lineage,
  group: lineage,
  item,
  part,
});
const thread = (id: string): DirectoryKey => ({ table: "directory", id });

export const journals = ["/store/00000001.jsonl", "/store/00000002.jsonl", "/store/directory.jsonl"] as const;

export function openAt(disk: SimulatedDisk): Promise<Backend> {
  return file("/store", { fileSystem: disk.process() });
}

/** Two lineages with puts, overwrites, deletes, batches of several records and joint ones; in the end one plain batch each. */
export async function makeSpecimen(compacted: boolean): Promise<Specimen> {
  const disk = new SimulatedDisk(seeded(1));
  const backend = await openAt(disk);
  const commit = async (...batches: Batch[]): Promise<void> => {
    assert.ok((await backend.commit(batches)).every(Boolean));
  };
  for (const lineage of [1, 2]) {
    await commit({
      inserts: [
        { key: thread(`thread "${lineage}" é`), value: recordText({ lineage }) },
        { key: at("meta", lineage, lineage), value: recordText({ version: 1 }) },
        { key: at("tail", lineage, 1), value: recordText({ step: 1 }) },
      ],
    });
  }
  for (let item = 2; item <= 6; item++) {
    await commit({
      inserts: [{ key: at("tail", 1, item), value: recordText({ step: item, note: "x".repeat(item * 7) }) }],
    });
    await commit({ puts: [{ key: at("write", 2, item % 3, 7), value: Buffer.from([item, 0, 255]) }] });
  }
  await commit({
    deletes: [{ table: "tail", lineage: 1, group: 1, to: 4 }, thread("never there")],
    puts: [
      { key: at("net", 1, 4), value: recordText("sealed") },
      { key: at("meta", 1, 1), value: recordText({ version: 2 }) },
      { key: thread('thread "1" é'), value: recordText({ lineage: 1, renamed: true }) },
      { key: at("tail", 2, 2), value: recordText("joint with another lineage") },
    ],
  });
  await commit({
    deletes: [at("write", 2, 0, 7)],
    inserts: [{ key: thread("late"), value: recordText('odd \\n " ,"prior":[') }],
  });
  await commit({ inserts: [{ key: at("tail", 1, 7), value: recordText({ step: 7 }) }] });
  if (compacted) await backend.compact();
  const keys = [
    ...[1, 2].flatMap((lineage) => [
      at("meta", lineage, lineage),
      at("net", lineage, 4),
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((item) => at("tail", lineage, item)),
      ...[0, 1, 2].map((item) => at("write", lineage, item, 7)),
    ]),
    ...['thread "1" é', 'thread "2" é', "late", "last"].map(thread),
  ];
  const before = await valuesOf(backend, keys);
  await commit(
    {
      inserts: [{ key: at("tail", 1, 8), value: recordText({ step: 8 }) }],
      puts: [{ key: at("meta", 1, 1), value: recordText({ version: 3 }) }],
    },
    { puts: [{ key: at("meta", 2, 2), value: recordText({ version: 4 }) }] },
    { puts: [{ key: thread("last"), value: recordText("last") }] },
  );
  const now = await valuesOf(backend, keys);
  await backend.close();
  return { disk, keys, before, now };
}

async function valuesOf(backend: Backend, keys: readonly AnyKey[]): Promise<Map<string, Value | undefined>> {
  const values = await backend.read(keys.map((get) => ({ get })));
  return new Map(keys.map((key, index) => [JSON.stringify(key), values[index] as Value | undefined]));
}

/** The state of a damaged store: its corrupt keys, and whether the others read as now or as before the last batch. */
export interface Findings {
  readonly corrupt: readonly string[];
  /** By journal. */
  readonly isNow: ReadonlyMap<string, boolean>;
  readonly isBefore: ReadonlyMap<string, boolean>;
}

export async function inspect(backend: Backend, { keys, before, now }: Specimen): Promise<Findings> {
  const corrupt: string[] = [];
  const isNow = new Map<string, boolean>(journals.map((path) => [path, true]));
  const isBefore = new Map<string, boolean>(journals.map((path) => [path, true]));
  for (const key of keys) {
    const name = JSON.stringify(key);
    const path = key.table === "directory" ? journals[2] : (journals[key.lineage - 1] as string);
    try {
      const [value] = await backend.read([{ get: key }]);
      const found = asText(value as Value | undefined);
      if (found !== asText(now.get(name))) isNow.set(path, false);
      if (found !== asText(before.get(name))) isBefore.set(path, false);
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== "CORRUPT") throw error;
      assert.match((error as Error).message, /\.jsonl, line \d+/);
      corrupt.push(name);
    }
  }
  for (const name of await damagedInScans(backend, keys, corrupt)) {
    assert.ok(corrupt.includes(name), `a scan says that ${name} is damaged, a get does not`);
  }
  return { corrupt, isNow, isBefore };
}

/** Scans and lists give the records that are not damaged as a get does, and say which ones are. */
async function damagedInScans(
  backend: Backend,
  keys: readonly AnyKey[],
  corrupt: readonly string[],
): Promise<string[]> {
  const damaged: string[] = [];
  for (const key of keys) {
    const read: Read =
      key.table === "directory"
        ? { list: { prefix: key.id, limit: 1 } }
        : { scan: { table: key.table, lineage: key.lineage, group: key.group, from: key.item, to: key.item } };
    try {
      const [answer] = await backend.read([read]);
      const [found] = answer as readonly (Found | Listed)[];
      if (typeof found?.value === "string" && found.value.startsWith("damaged: ")) damaged.push(JSON.stringify(key));
      else if (!corrupt.includes(JSON.stringify(key))) {
        const [value] = await backend.read([{ get: key }]);
        assert.equal(asText(found?.value), asText(value as Value | undefined));
      }
    } catch (error) {
      // Where nothing is known of what is damaged, no scan can tell.
      if ((error as { readonly code?: unknown }).code !== "CORRUPT") throw error;
    }
  }
  return damaged;
}

function asText(value: Value | undefined): string {
  return value === undefined
    ? "nothing"
    : typeof value === "string"
      ? value
      : `bytes ${Buffer.from(value).toString("hex")}`;
}

/** Where the last batch of a journal begins. */
export function lastBatchAt(content: Buffer): number {
  const lines = content.toString("utf8").trimEnd().split("\n");
  const last = lines.at(-1) as string;
  return (JSON.parse(last) as { readonly start?: number }).start ?? content.length - Buffer.byteLength(last) - 1;
}
