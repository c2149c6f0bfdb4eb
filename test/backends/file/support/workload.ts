import type {
  Backend,
  Batch,
  DirectoryKey,
  Found,
  IndexEntry,
  Key,
  Listed,
  LogPage,
  Range,
  Table,
  Value,
} from "../../../../src/backend.ts";
import { tables } from "../../../../src/backend.ts";
import { below, type Random } from "./random.ts";

const lineages: readonly number[] = [1, 2, 3, 4];
const tableNames = Object.keys(tables) as Table[];
const threads = ["a", 'b"\\', "é😀", "thread d"];

/** The contents of a store, by readable keys. */
export type Contents = Map<string, string>;

function nameOf(key: Key | DirectoryKey): string {
  if (key.table === "directory") return `directory ${key.id}`;
  return `${key.table} ${key.group} ${key.item} ${key.part}`;
}

function textOf(value: Value): string {
  return typeof value === "string" ? value : `bytes ${Buffer.from(value).toString("hex")}`;
}

/** Returns everything that a store holds. */
export async function contentsOf(backend: Backend): Promise<Contents> {
  const scans = lineages.flatMap((lineage) =>
    tableNames.map((table) => ({ scan: { table, lineage, group: lineage } })),
  );
  const found = [{ find: { from: "a", to: "z", limit: 1000 } }, { log: { after: "", limit: 1000 } }] as const;
  const [entries, log, ...answers] = await backend.read([...found, { list: { limit: 1000 } }, ...scans]);
  const contents: Contents = new Map();
  for (const { id, value } of answers[0] as readonly Listed[]) contents.set(`directory ${id}`, textOf(value));
  for (const [index, { scan }] of scans.entries()) {
    for (const { item, part, value } of answers[index + 1] as readonly Found[]) {
      contents.set(`${scan.table} ${scan.group} ${item} ${part}`, textOf(value));
    }
  }
  for (const entry of entries as readonly IndexEntry[]) contents.set(entryName(entry), "");
  for (const { text } of (log as LogPage).lines) contents.set(`log ${text}`, "");
  return contents;
}

function entryName({ text, lineage, tape }: IndexEntry): string {
  return `entry ${lineage} ${tape} ${text}`;
}

/** Returns the contents after a batch was applied, whatever its checks. */
export function withBatch(contents: Contents, batch: Batch): Contents {
  const { deletes = [], inserts = [], puts = [], entries, log } = batch;
  const result = new Map(contents);
  for (const target of deletes) {
    if (target.table === "directory" || "item" in target) result.delete(nameOf(target));
    else for (const name of result.keys()) if (isIn(target, name)) result.delete(name);
  }
  for (const { key, value } of [...inserts, ...puts]) result.set(nameOf(key), textOf(value));
  for (const entry of entries?.remove ?? []) result.delete(entryName(entry));
  for (const entry of entries?.add ?? []) result.set(entryName(entry), "");
  for (const { text } of log?.lines ?? []) result.set(`log ${text}`, "");
  return result;
}

/** The batch without deletes of what is not there: they change no journal. */
export function withoutVain(contents: Contents, batch: Batch): Batch {
  const names = [...contents.keys()];
  const deletes = (batch.deletes ?? []).filter((target) =>
    target.table === "directory" || "item" in target
      ? contents.has(nameOf(target))
      : names.some((name) => isIn(target, name)),
  );
  return { ...batch, deletes };
}

function isIn({ table, group, from = 0, to = 0xffff_ffff }: Range, name: string): boolean {
  const [itsTable, itsGroup, item] = name.split(" ");
  return itsTable === table && Number(itsGroup) === group && Number(item) >= from && Number(item) <= to;
}

/** Returns the contents as text; equal contents give equal text. */
export function show(contents: Contents): string {
  return [...contents]
    .map(([name, value]) => `${name} = ${value.slice(0, 40)} (${value.length})`)
    .sort()
    .join("\n");
}

/** A call that a workload makes. */
export type Step = { readonly batches: readonly Batch[] } | { readonly compact: true };

/** Makes up steps like those of the engine: puts, seals, new threads, deletes, and some that it would not take. */
export class Workload {
  readonly #random: Random;
  readonly #next = new Map<number, number>(lineages.map((lineage) => [lineage, 1]));
  readonly #entries = new Map<number, IndexEntry>();
  #version = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  next(): Step {
    if (this.#random() < 0.06) return { compact: true };
    const chosen = lineages.filter(() => this.#random() < 0.3);
    if (chosen.length === 0) chosen.push(1 + below(this.#random, lineages.length));
    // Some batches change several lineages at once, most do not.
    if (chosen.length === 2 && this.#random() < 0.3) {
      const [one, two] = chosen.map((lineage) => this.#batch(lineage));
      return { batches: [joined(one as Batch, two as Batch)] };
    }
    return { batches: chosen.map((lineage) => this.#batch(lineage)) };
  }

  #batch(lineage: number): Batch {
    const kind = this.#random();
    const item = this.#next.get(lineage) as number;
    this.#next.set(lineage, item + 1);
    const tail = { key: at("tail", lineage, item), value: this.#value() };
    const meta = { key: at("meta", lineage, lineage), value: this.#value() };
    const thread = { table: "directory", id: threads[lineage - 1] as string } as const;
    if (kind < 0.3) return { inserts: [tail], puts: this.#random() < 0.3 ? [meta] : [] };
    if (kind < 0.5) return { inserts: [tail], puts: [meta], ...this.#found(lineage) };
    if (kind < 0.65) return { inserts: [tail], puts: [meta, { key: thread, value: this.#value() }] };
    if (kind < 0.7) {
      // A delete alone would leave no trace by which to tell that the batch was applied.
      const trace = { key: { table: "directory", id: `trace ${lineage}` } as const, value: this.#value() };
      return { deletes: [thread], puts: [meta, trace] };
    }
    if (kind < 0.75) return { puts: [{ key: thread, value: this.#value() }] };
    if (kind < 0.85) {
      const write = at("write", lineage, below(this.#random, 3), below(this.#random, 3));
      return { deletes: [at("write", lineage, 1, 1)], puts: [{ key: write, value: this.#value() }, meta] };
    }
    const sealed = { table: "tail", lineage, group: lineage, to: item - 1 - below(this.#random, 2) } as const;
    return { deletes: [sealed], puts: [{ key: at("net", lineage, item), value: this.#value() }, meta] };
  }

  /** A change of the index, as when a thread's status changes, and a line of the log. */
  #found(lineage: number): Pick<Batch, "entries" | "log"> {
    const entry = { text: `s"${++this.#version}é`, lineage, tape: lineage };
    const last = this.#entries.get(lineage);
    this.#entries.set(lineage, entry);
    return {
      entries: { remove: last === undefined ? [] : [last], add: [entry] },
      ...(this.#random() < 0.5 ? { log: { lineage, lines: [{ at: 1, text: `${lineage} ${this.#version}` }] } } : {}),
    };
  }

  /** Never the same twice, so that what is there tells which batches were applied. */
  #value(): Value {
    const text = `${++this.#version}${"-".repeat(this.#random() < 0.2 ? below(this.#random, 2000) : below(this.#random, 40))}`;
    return this.#random() < 0.2 ? Buffer.from(text) : `t1........${JSON.stringify({ text })}`;
  }
}

function joined(one: Batch, two: Batch): Batch {
  const log = one.log ?? two.log;
  return {
    entries: {
      remove: [...(one.entries?.remove ?? []), ...(two.entries?.remove ?? [])],
      add: [...(one.entries?.add ?? []), ...(two.entries?.add ?? [])],
    },
    ...(log === undefined
      ? {}
      : { log: { lineage: log.lineage, lines: [...(one.log?.lines ?? []), ...(two.log?.lines ?? [])] } }),
    deletes: [...(one.deletes ?? []), ...(two.deletes ?? [])],
    inserts: [...(one.inserts ?? []), ...(two.inserts ?? [])],
    puts: [...(one.puts ?? []), ...(two.puts ?? [])],
  };
}

function at(table: Table, lineage: number, item: number, part = 0): Key {
  return { table, lineage, group: lineage, item, part };
}
