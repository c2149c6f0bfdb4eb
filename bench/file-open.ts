import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Batch, Key, Table } from "../src/backend.ts";
import { file } from "../src/backends/file/index.ts";

/**
 * What opening and reading a file store costs: 1,000 lineages of 1,000 records are opened without being read, and the
 * latest state of one is read, against reading one file of the same JSON and parsing it.
 *
 * Run: node bench/file-open.ts [--lineages 1000] [--records 1000]
 */
function option(name: string, otherwise: number): number {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
}

const lineages = option("lineages", 1000);
const records = option("records", 1000);
const sealedEvery = 64;

const key = (table: Table, lineage: number, item: number): Key => ({ table, lineage, group: lineage, item, part: 0 });
const value = (content: unknown): string => `1j00000000${JSON.stringify(content)}`;

/** About 650 bytes, like a message of a conversation. */
function message(index: number): unknown {
  return {
    id: `message-${index}`,
    role: index % 2 ? "user" : "assistant",
    content: `${index} lorem ipsum dolor `.repeat(28),
  };
}

/** What the engine writes for a conversation: a record a step, and every 64 of them sealed into a pack. */
function* history(lineage: number): Generator<Batch> {
  const thread = {
    key: { table: "directory", id: `thread-${lineage}` } as const,
    value: value({ tape: lineage, lineage }),
  };
  const first = { key: key("tail", lineage, 1), value: value({ id: "1", step: 1, change: message(1) }) };
  yield { inserts: [thread, { key: key("meta", lineage, lineage), value: value({ version: 1, sealed: 0 }) }, first] };
  for (let item = 2; item <= records; item++) {
    yield {
      inserts: [
        { key: key("tail", lineage, item), value: value({ id: `${item}`, step: item, change: message(item) }) },
      ],
    };
    if (item % sealedEvery !== 0) continue;
    const from = item - sealedEvery + 1;
    const sealed = Array.from({ length: sealedEvery }, (_, index) => message(from + index));
    yield {
      deletes: [{ table: "tail", lineage, group: lineage, from, to: item }],
      inserts: [
        {
          key: key("rows", lineage, item),
          value: value(sealed.map((_, index) => ({ id: `${from + index}`, step: from + index }))),
        },
        { key: key("net", lineage, item), value: value({ messages: sealed }) },
      ],
      puts: [{ key: key("meta", lineage, lineage), value: value({ version: item, sealed: item }) }],
    };
  }
}

function milliseconds(from: number): string {
  return `${(performance.now() - from).toFixed(2)} ms`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function memory(): number {
  globalThis.gc?.();
  return process.memoryUsage().rss;
}

/** The median time of each action, in milliseconds. They take turns, so that they meet the same machine. */
async function medians(rounds: number, actions: readonly (() => Promise<unknown>)[]): Promise<number[]> {
  const taken: number[][] = actions.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, action] of actions.entries()) {
      const from = performance.now();
      await action();
      taken[index]?.push(performance.now() - from);
    }
  }
  return taken.map((times) => times.sort((a, b) => a - b)[rounds >> 1] as number);
}

/** Reads the latest state as the engine would: the meta record and the tail, then the packs, parsed. */
async function latest(backend: Awaited<ReturnType<typeof file>>, lineage: number): Promise<unknown[]> {
  const group = lineage;
  const [, tail, packs] = await backend.read([
    { get: key("meta", lineage, lineage) },
    { scan: { table: "tail", lineage, group } },
    { scan: { table: "net", lineage, group } },
  ]);
  const parsed = (packs as readonly { value: string }[]).flatMap((pack) => JSON.parse(pack.value.slice(10)).messages);
  for (const row of tail as readonly { value: string }[]) parsed.push(JSON.parse(row.value.slice(10)).change);
  return parsed;
}

const root = await mkdtemp(join(tmpdir(), "threadmark-bench-"));
try {
  const directory = join(root, "store");
  const writer = await file(directory, { fsync: "normal" });
  let from = performance.now();
  for (let lineage = 1; lineage <= lineages; lineage++) {
    for (const batch of history(lineage)) await writer.commit([batch]);
  }
  const written = performance.now() - from;
  await writer.close();
  let total = 0;
  for (const name of await readdir(directory)) total += (await stat(join(directory, name))).size;
  console.log(
    `${lineages} lineages of ${records} records: ${megabytes(total)}, ${((written * 1000) / lineages / records).toFixed(0)} µs a record (fsync normal)`,
  );

  const before = memory();
  from = performance.now();
  const backend = await file(directory);
  console.log(`open: ${milliseconds(from)}`);
  from = performance.now();
  const [listed] = await backend.read([{ list: { limit: 100 } }]);
  console.log(`first list of 100 threads (${(listed as unknown[]).length}): ${milliseconds(from)}`);
  from = performance.now();
  await latest(backend, 1);
  console.log(`first latest of one lineage: ${milliseconds(from)}`);
  console.log(`memory for that: ${megabytes(memory() - before)}`);
  from = performance.now();
  for (let lineage = 1; lineage <= Math.min(lineages, 200); lineage++) await latest(backend, lineage);
  console.log(
    `first latest of ${Math.min(lineages, 200)} lineages: ${milliseconds(from)}, memory ${megabytes(memory() - before)}`,
  );

  const state = JSON.stringify({ messages: await latest(backend, 1) });
  const plain = join(root, "state.json");
  await writeFile(plain, state);
  const [floor = 0, warm = 0, cold = 0] = await medians(101, [
    async () => JSON.parse(await readFile(plain, "utf8")),
    () => latest(backend, 1),
    async () => {
      const fresh = await file(directory);
      await latest(fresh, 1);
      await fresh.close();
    },
  ]);
  console.log(`read + JSON.parse of the state (${megabytes(state.length)}): ${floor.toFixed(2)} ms`);
  console.log(`latest, journal in memory: ${warm.toFixed(2)} ms, ${(warm / floor).toFixed(2)} ×`);
  console.log(`latest, newly opened: ${cold.toFixed(2)} ms, ${(cold / floor).toFixed(2)} ×`);
  await backend.close();

  for (const fsync of ["full", "normal"] as const) {
    const one = await file(join(root, fsync), { fsync });
    let item = 0;
    const [commit = 0] = await medians(500, [
      () =>
        one.commit([
          { inserts: [{ key: key("tail", 1, ++item), value: value({ step: item, change: message(item) }) }] },
        ]),
    ]);
    console.log(`one commit of one record, fsync ${fsync}: ${(commit * 1000).toFixed(0)} µs`);
    await one.close();
  }
} finally {
  await rm(root, { recursive: true });
}
