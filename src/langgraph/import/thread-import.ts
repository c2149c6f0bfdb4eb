import { type ChannelVersions, type Checkpoint, TASKS } from "@langchain/langgraph-checkpoint";
import { hasSchema } from "../../api/adapter.ts";
import type { Store } from "../../api/store.ts";
import type { Thread } from "../../api/thread.ts";
import type { CheckpointInfo } from "../../model/checkpoint.ts";
import { levelsOf, namespaceOf } from "../mapping/address.ts";
import { putInput } from "../mapping/checkpoint.ts";
import { firstVersionWithSends } from "../old-sends.ts";
import { toStored } from "../values/to-stored.ts";
import { type ImportFault, ownFault } from "./fault.ts";
import { type OrderedRow, parentsFirst, rowKey } from "./order.ts";
import type { SavedRow, SavedWrite, SavedWriteKey, SaverDatabase } from "./saver-database.ts";

/** The numbers of a part of an import. */
interface Tally {
  readonly checkpoints: number;
  readonly writes: number;
  readonly unchanged: number;
  readonly faults: readonly ImportFault[];
}

const nothing: Tally = { checkpoints: 0, writes: 0, unchanged: 0, faults: [] };

/** The number of checkpoints whose writes are read together, where the store already has the checkpoints. */
const portion = 128;

type CheckpointKey = Pick<SavedRow, "namespace" | "id">;

/** The import of one thread. */
export class ThreadImport {
  readonly #database: SaverDatabase;
  readonly #store: Store<Record<string, unknown>>;
  readonly #thread: string;
  /** The channel versions of imported checkpoints, and the channels that have a value. */
  readonly #versions = new Map<string, { readonly versions: ChannelVersions; readonly present: ReadonlySet<string> }>();
  /** The keys of the database's writes, by checkpoint. */
  readonly #keys = new Map<string, SavedWriteKey[]>();

  constructor(database: SaverDatabase, store: Store<Record<string, unknown>>, thread: string) {
    this.#database = database;
    this.#store = store;
    this.#thread = thread;
  }

  /** Imports the thread. Yields a tally after each new checkpoint, and after each portion of checkpoints the store has. */
  async *run(): AsyncGenerator<Tally> {
    const rows = parentsFirst(await this.#database.rows(this.#thread));
    for (const key of await this.#database.writeKeys(this.#thread)) {
      const list = this.#keys.get(rowKey(key));
      if (list === undefined) this.#keys.set(rowKey(key), [key]);
      else list.push(key);
    }
    let stored: Awaited<ReturnType<typeof storedCheckpoints>>;
    try {
      stored = await storedCheckpoints(this.#store, this.#thread);
    } catch (error) {
      // The thread's name cannot be that of a thread of the store.
      const message = ownFault(error);
      yield { ...nothing, faults: rows.map((row) => this.#fault(row, message)) };
      return;
    }
    const known = rows.flatMap((row) => stored.get(row.namespace)?.get(row.id) ?? []);
    for (let start = 0; start < known.length; start += portion) {
      yield await this.#complete(known.slice(start, start + portion));
    }
    for (const info of known) this.#keys.delete(keyOfInfo(info));
    const imported = new Set(known.map(keyOfInfo));
    for (const row of rows) {
      if (imported.has(rowKey(row))) continue;
      const tally = await this.#import(row, imported);
      if (tally.checkpoints > 0) imported.add(rowKey(row));
      this.#keys.delete(rowKey(row));
      yield tally;
    }
    // Writes may be stored before their checkpoint, and may outlive it.
    for (const [first] of this.#keys.values()) if (first !== undefined) yield await this.#writesOf(first);
  }

  /** Adds missing writes to checkpoints that the store already has. */
  async #complete(known: readonly CheckpointInfo[]): Promise<Tally> {
    let tally: Tally = { ...nothing, unchanged: known.length };
    const byNamespace = new Map<string, CheckpointInfo[]>();
    for (const info of known) {
      if (!this.#keys.has(keyOfInfo(info))) continue;
      const namespace = namespaceOf(info);
      byNamespace.set(namespace, [...(byNamespace.get(namespace) ?? []), info]);
    }
    for (const [namespace, written] of byNamespace) {
      const stored = await this.#handle(namespace).writesOf(written);
      for (const { id } of written) {
        const has = new Set((stored.get(id) ?? []).map(({ task, index }) => JSON.stringify([task, index])));
        const lacks = (this.#keys.get(rowKey({ namespace, id })) ?? []).some(
          ({ task, index }) => !has.has(JSON.stringify([task, index])),
        );
        if (lacks) tally = sum(tally, await this.#writesOf({ namespace, id }, has));
      }
    }
    return tally;
  }

  /** Imports a checkpoint with its writes, in one commit of the store if possible. */
  async #import(row: OrderedRow, imported: ReadonlySet<string>): Promise<Tally> {
    const { namespace, id, parent } = row;
    try {
      const found = await this.#database.checkpoint(this.#thread, row);
      if (found === undefined) return nothing;
      const { checkpoint, metadata } = found;
      const parentKey = parent === null ? undefined : rowKey({ namespace, id: parent });
      const hasParent = row.rooted && parentKey !== undefined && imported.has(parentKey);
      const sends = hasParent || parent === null ? undefined : await this.#sends(checkpoint, { namespace, id: parent });
      const input = putInput({
        config: {},
        namespace,
        checkpoint: checkpoint.id === id ? checkpoint : { ...checkpoint, id },
        metadata,
        newVersions: this.#newVersions(checkpoint, hasParent ? parentKey : undefined),
        hasParent,
        complete: true,
        hasSchema: hasSchema(this.#handle(namespace)),
        ...(!hasParent && parent !== null && { missingParent: parent }),
        ...(sends !== undefined && { sends }),
      });
      const writing = this.#keys.has(rowKey(row)) ? this.#writesOf(row) : nothing;
      const [put, writes] = await Promise.allSettled([
        this.#handle(namespace).put(input, { parent: hasParent ? parent : null }),
        writing,
      ]);
      if (writes.status === "rejected") throw writes.reason;
      if (put.status === "rejected") throw put.reason;
      this.#versions.set(rowKey(row), {
        versions: checkpoint.channel_versions ?? {},
        present: new Set(Object.keys(checkpoint.channel_values ?? {})),
      });
      return sum({ ...nothing, checkpoints: 1 }, writes.value);
    } catch (error) {
      return { ...nothing, faults: [this.#fault(row, ownFault(error))] };
    }
  }

  /** Returns the versions of the channels that differ from the parent's. */
  #newVersions(checkpoint: Checkpoint, parent: string | undefined): ChannelVersions {
    const versions = checkpoint.channel_versions ?? {};
    const before = parent === undefined ? undefined : this.#versions.get(parent);
    if (before === undefined) return versions;
    const values = checkpoint.channel_values ?? {};
    return Object.fromEntries(
      Object.entries(versions).filter(
        ([channel, version]) =>
          !Object.hasOwn(before.versions, channel) ||
          before.versions[channel] !== version ||
          before.present.has(channel) !== Object.hasOwn(values, channel),
      ),
    );
  }

  /** Returns the sends that a checkpoint of an older format would read from the writes of its missing parent. */
  async #sends(checkpoint: Checkpoint, parent: CheckpointKey): Promise<readonly unknown[] | undefined> {
    if (!(checkpoint.v < firstVersionWithSends)) return undefined;
    const writes = await this.#database.writes(this.#thread, parent);
    return writes.filter(({ channel }) => channel === TASKS).map(({ value }) => value);
  }

  /** Imports the writes of a checkpoint, except those in `stored`. */
  async #writesOf(key: CheckpointKey, stored: ReadonlySet<string> = new Set()): Promise<Tally> {
    try {
      const byTask = new Map<string, SavedWrite[]>();
      for (const write of await this.#database.writes(this.#thread, key)) {
        if (stored.has(JSON.stringify([write.task, write.index]))) continue;
        const list = byTask.get(write.task);
        if (list === undefined) byTask.set(write.task, [write]);
        else list.push(write);
      }
      const handle = this.#handle(key.namespace);
      const results = await Promise.allSettled(
        [...byTask].map(([task, writes]) =>
          handle.putWrites(key.id, {
            task,
            writes: writes.map(({ channel, value, index }) => ({ channel, index, value: toStored(value) })),
          }),
        ),
      );
      let count = 0;
      for (const result of results) {
        if (result.status === "rejected") throw result.reason;
        count += result.value.stored;
      }
      return { ...nothing, writes: count };
    } catch (error) {
      return { ...nothing, faults: [this.#fault(key, ownFault(error))] };
    }
  }

  #handle(namespace: string): Thread<Record<string, unknown>> {
    return this.#store.thread(this.#thread, { namespace: levelsOf(namespace) });
  }

  #fault({ namespace, id }: CheckpointKey, message: string): ImportFault {
    return { thread: this.#thread, namespace, checkpoint: id, message };
  }
}

function keyOfInfo(info: CheckpointInfo): string {
  return rowKey({ namespace: namespaceOf(info), id: info.id });
}

function sum(left: Tally, right: Tally): Tally {
  return {
    checkpoints: left.checkpoints + right.checkpoints,
    writes: left.writes + right.writes,
    unchanged: left.unchanged + right.unchanged,
    faults: [...left.faults, ...right.faults],
  };
}

/** Returns the checkpoints that the store has of a thread, by namespace and id. */
async function storedCheckpoints(
  store: Store<Record<string, unknown>>,
  thread: string,
): Promise<ReadonlyMap<string, ReadonlyMap<string, CheckpointInfo>>> {
  const stored = new Map<string, ReadonlyMap<string, CheckpointInfo>>();
  for (const namespace of await store.thread(thread).namespaces()) {
    const rows = new Map<string, CheckpointInfo>();
    for await (const row of store.thread(thread, { namespace }).history()) {
      rows.set(row.id, row);
      stored.set(namespaceOf(row), rows);
    }
  }
  return stored;
}
