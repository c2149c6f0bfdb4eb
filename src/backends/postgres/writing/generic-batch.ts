import { randomBytes } from "node:crypto";
import type { Batch, DirectoryKey, IndexEntry, Key, LogLine, Range, Stored, Value } from "../../../backend.ts";
import { covers } from "../../shared/delete-covers.ts";
import { lastItem } from "../../shared/key-bounds.ts";
import type { QueryResult } from "../connection/pool.ts";
import type { Server, Statement } from "../connection/server.ts";
import { statement } from "../connection/server.ts";
import type { Notices } from "../hearing/notices.ts";
import { bound, codeOf, type NamedSchema, nameOf } from "../schema/layout.ts";
import { bigints, byteas, integers, texts, uuids } from "./arrays.ts";

/** The operations of the function `apply`. */
const operation = { equals: 0, absent: 1, deleteOne: 2, deleteRange: 3, insert: 4, put: 5 } as const;

/** A batch with a token that tells, if the answer is lost, whether it was applied. */
export interface GenericBatch {
  readonly batch: Batch;
  readonly token: Uint8Array;
}

export function genericBatchOf(batch: Batch): GenericBatch {
  return { batch, token: randomBytes(16) };
}

/**
 * Runs batches of any kind through the function `apply`, in one statement and one attempt, and returns which were
 * applied.
 */
export class GenericBatchRunner {
  readonly #server: Server;
  readonly #statement: Statement;
  readonly #notices: Notices | undefined;

  /** Takes the notices that commits send within their transaction; none where they are sent behind it. */
  constructor(server: Server, { schema, durable }: NamedSchema, notices: Notices | undefined) {
    this.#server = server;
    this.#notices = notices;
    this.#statement = statement(
      `select ${schema}.apply($1::int8[], $2::uuid[], $3::int4[], $4::int4[], $5::int4[], $6::int4[], $7::int8[], ` +
        `$8::int8[], $9::int8[], $10::int8[], $11::text[], $12::text[], $13::bytea[])${durable === undefined ? "" : ` where ${durable}`}`,
    );
  }

  async run(batches: readonly GenericBatch[]): Promise<readonly boolean[]> {
    const channel = this.#notices?.due();
    const { statement, values } = this.call(batches, channel);
    const applied = appliedOf(batches, await this.#server.run(statement, values));
    if (channel !== undefined && batches.some(({ batch }, ord) => batch.log !== undefined && applied[ord])) {
      this.#notices?.sent();
    }
    return applied;
  }

  /** Returns the statement that runs the batches. */
  call(
    batches: readonly GenericBatch[],
    channel?: string,
  ): { readonly statement: Statement; readonly values: readonly unknown[] } {
    const operations = new Operations(channel);
    for (const [ord, { batch }] of batches.entries()) addBatch(operations, ord, batch);
    const owners = bigints(batches.map(({ batch }) => lineageOf(batch)));
    const tokens = uuids(batches.map(({ token }) => token));
    return { statement: this.#statement, values: [owners, tokens, ...operations.parameters()] };
  }
}

/** Returns which batches were applied, by the answer to their statement. */
export function appliedOf(batches: readonly GenericBatch[], { rows }: QueryResult): readonly boolean[] {
  const [[list]] = rows as readonly [readonly [string]];
  const refused = new Set(list === "{}" ? [] : list.slice(1, -1).split(",").map(Number));
  return batches.map((_, ord) => !refused.has(ord));
}

/** The operations of a statement as columns. */
class Operations {
  /** The channel that lines of the log notify. */
  readonly #channel: string | undefined;
  readonly #operationKinds = new Set<number>();
  readonly #codes: number[] = [];
  readonly #tables: number[] = [];
  readonly #batches: number[] = [];
  readonly #lineages: number[] = [];
  readonly #groups: number[] = [];
  readonly #items: number[] = [];
  readonly #parts: number[] = [];
  readonly #ids: (string | undefined)[] = [];
  readonly #texts: (string | undefined)[] = [];
  readonly #bytes: (Uint8Array | undefined)[] = [];

  constructor(channel: string | undefined) {
    this.#channel = channel;
  }

  add(code: number, batch: number, key: Key | DirectoryKey | Range, value?: Value): void {
    if (key.table === "directory") this.#add(code, key.table, batch, 0, 0, 0, 0, key.id, value);
    else {
      const item = "item" in key ? key.item : bound(key.from ?? 0);
      const part = "item" in key ? key.part : bound(key.to ?? lastItem(key.table));
      this.#add(code, key.table, batch, key.lineage, key.group, item, part, undefined, value);
    }
  }

  addEntry(code: number, batch: number, { text, lineage, tape }: IndexEntry): void {
    this.#add(code, "entry", batch, lineage, tape, 0, 0, text, undefined);
  }

  /** Adds a line of the log: its time as the item, its number in the batch as the part, the channel to notify as the id. */
  addLine(batch: number, lineage: number, { at, text }: LogLine, number: number): void {
    this.#add(operation.put, "log", batch, lineage, 0, at, number, this.#channel, text);
  }

  #add(
    code: number,
    stored: Stored,
    batch: number,
    lineage: number,
    group: number,
    item: number,
    part: number,
    id: string | undefined,
    value: Value | undefined,
  ): void {
    const table = codeOf(stored);
    this.#operationKinds.add(code * 100 + table);
    this.#codes.push(code);
    this.#tables.push(table);
    this.#batches.push(batch);
    this.#ids.push(id);
    this.#lineages.push(lineage);
    this.#groups.push(group);
    this.#items.push(item);
    this.#parts.push(part);
    this.#texts.push(typeof value === "string" ? value : undefined);
    this.#bytes.push(typeof value === "string" ? undefined : value);
  }

  parameters(): readonly unknown[] {
    return [
      integers([...this.#operationKinds]),
      integers(this.#codes),
      integers(this.#tables),
      integers(this.#batches),
      bigints(this.#lineages),
      bigints(this.#groups),
      bigints(this.#items),
      bigints(this.#parts),
      texts(orNone(this.#ids)),
      texts(orNone(this.#texts)),
      byteas(orNone(this.#bytes)),
    ];
  }
}

/** Returns an empty column for one of nulls, which the server treats alike. */
function orNone<T>(column: readonly (T | undefined)[]): readonly (T | undefined)[] {
  return column.every((value) => value === undefined) ? [] : column;
}

/**
 * Adds a batch's operations. The function runs deletes, then inserts, then puts, each key once, so repeated keys are
 * resolved here: an insert whose key the batch itself deletes becomes a put, a check for absence of a key that the
 * batch writes becomes an insert.
 */
function addBatch(operations: Operations, ord: number, batch: Batch): void {
  const { checks = [], deletes = [], inserts = [], puts = [], entries, log } = batch;
  const written = new Map<string, { key: Key | DirectoryKey; value: Value; insert: boolean }>();
  for (const { key, value } of inserts) {
    written.set(nameOf(key), { key, value, insert: !deletes.some((target) => covers(target, key)) });
  }
  for (const { key, value } of puts) {
    written.set(nameOf(key), { key, value, insert: written.get(nameOf(key))?.insert ?? false });
  }
  for (const { key, value } of checks) {
    if (value !== undefined) operations.add(operation.equals, ord, key, value);
    else {
      const entry = written.get(nameOf(key));
      if (entry === undefined) operations.add(operation.absent, ord, key);
      else entry.insert = true;
    }
  }
  for (const target of deletes) {
    const one = target.table === "directory" || "item" in target;
    operations.add(one ? operation.deleteOne : operation.deleteRange, ord, target);
  }
  for (const { key, value, insert } of written.values()) {
    operations.add(insert ? operation.insert : operation.put, ord, key, value);
  }
  for (const entry of entries?.remove ?? []) operations.addEntry(operation.deleteOne, ord, entry);
  for (const entry of entries?.add ?? []) operations.addEntry(operation.put, ord, entry);
  for (const [number, line] of (log?.lines ?? []).entries()) operations.addLine(ord, log?.lineage ?? 0, line, number);
}

/** Returns the lineage of a batch: it has one, or only touches the directory. */
function lineageOf({ checks = [], deletes = [], inserts = [], puts = [], entries, log }: Batch): number {
  for (const { key } of [...checks, ...inserts, ...puts]) if (key.table !== "directory") return key.lineage;
  for (const key of deletes) if (key.table !== "directory") return key.lineage;
  return log?.lineage ?? entries?.add?.[0]?.lineage ?? entries?.remove?.[0]?.lineage ?? 0;
}
