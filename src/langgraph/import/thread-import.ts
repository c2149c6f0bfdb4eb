import { type ChannelVersions, type Checkpoint, TASKS } from "@langchain/langgraph-checkpoint";
import type { Store } from "../../api/store.ts";
import type { Thread } from "../../api/thread.ts";
import type { CheckpointInfo } from "../../model/checkpoint.ts";
import { levelsOf, namespaceOf } from "../mapping/address.ts";
import { putInput } from "../mapping/checkpoint.ts";
import { firstVersionWithSends } from "../remove.ts";
import { toStored } from "../values/to-stored.ts";
import { type ImportFault, ownFault } from "./fault.ts";
import { type OrderedRow, parentsFirst, rowKey } from "./order.ts";
import type { Source, SourceRow, SourceWrite, SourceWriteKey } from "./source.ts";

/** What one step of an import did. */
interface Step {
  readonly checkpoints: number;
  readonly writes: number;
  readonly unchanged: number;
  readonly faults: readonly ImportFault[];
}

const nothing: Step = { checkpoints: 0, writes: 0, unchanged: 0, faults: [] };

/** Of how many checkpoints that are there already the writes are looked at in one read. */
const portion = 128;

type Place = Pick<SourceRow, "namespace" | "id">;

/** The import of one thread. */
export class ThreadImport {
  readonly #source: Source;
  readonly #store: Store<Record<string, unknown>>;
  readonly #thread: string;
  /** The versions of the checkpoints that were imported, and which of their channels have a value. */
  readonly #versions = new Map<string, { readonly versions: ChannelVersions; readonly present: ReadonlySet<string> }>();
  /** The writes that the source has, by checkpoint. */
  readonly #keys = new Map<string, SourceWriteKey[]>();

  constructor(source: Source, store: Store<Record<string, unknown>>, thread: string) {
    this.#source = source;
    this.#store = store;
    this.#thread = thread;
  }

  /** Does it, a checkpoint a step, or some that are there already. */
  async *steps(): AsyncGenerator<Step> {
    const rows = parentsFirst(await this.#source.rows(this.#thread));
    for (const key of await this.#source.writeKeys(this.#thread)) {
      const list = this.#keys.get(rowKey(key));
      if (list === undefined) this.#keys.set(rowKey(key), [key]);
      else list.push(key);
    }
    let there: Awaited<ReturnType<typeof checkpointsThere>>;
    try {
      there = await checkpointsThere(this.#store, this.#thread);
    } catch (error) {
      // A thread of a name that no thread can have.
      const message = ownFault(error);
      yield { ...nothing, faults: rows.map((row) => this.#fault(row, message)) };
      return;
    }
    const known = rows.flatMap((row) => there.get(row.namespace)?.get(row.id) ?? []);
    for (let start = 0; start < known.length; start += portion) {
      yield await this.#complete(known.slice(start, start + portion));
    }
    for (const info of known) this.#keys.delete(keyOfInfo(info));
    const imported = new Set(known.map(keyOfInfo));
    for (const row of rows) {
      if (imported.has(rowKey(row))) continue;
      const step = await this.#import(row, imported);
      if (step.checkpoints > 0) imported.add(rowKey(row));
      this.#keys.delete(rowKey(row));
      yield step;
    }
    // Writes can be there before their checkpoint, and outlive it.
    for (const [first] of this.#keys.values()) if (first !== undefined) yield await this.#writesOf(first);
  }

  /** Adds to checkpoints that are there what writes they lack. */
  async #complete(known: readonly CheckpointInfo[]): Promise<Step> {
    let step: Step = { ...nothing, unchanged: known.length };
    const byNamespace = new Map<string, CheckpointInfo[]>();
    for (const info of known) {
      if (!this.#keys.has(keyOfInfo(info))) continue;
      const namespace = namespaceOf(info);
      byNamespace.set(namespace, [...(byNamespace.get(namespace) ?? []), info]);
    }
    for (const [namespace, written] of byNamespace) {
      const there = await this.#handle(namespace).writesOf(written);
      for (const { id } of written) {
        const has = new Set((there.get(id) ?? []).map(({ task, index }) => JSON.stringify([task, index])));
        const lacks = (this.#keys.get(rowKey({ namespace, id })) ?? []).some(
          ({ task, index }) => !has.has(JSON.stringify([task, index])),
        );
        if (lacks) step = sum(step, await this.#writesOf({ namespace, id }, has));
      }
    }
    return step;
  }

  /** Takes over one checkpoint with its writes, in one commit of the store if that can be. */
  async #import(row: OrderedRow, imported: ReadonlySet<string>): Promise<Step> {
    const { namespace, id, parent } = row;
    try {
      const found = await this.#source.checkpoint(this.#thread, row);
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

  /** The channels that are not as they were at the parent. */
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

  /** What a checkpoint of an older format would read from the writes of a parent that is gone. */
  async #sends(checkpoint: Checkpoint, parent: Place): Promise<readonly unknown[] | undefined> {
    if (!(checkpoint.v < firstVersionWithSends)) return undefined;
    const writes = await this.#source.writes(this.#thread, parent);
    return writes.filter(({ channel }) => channel === TASKS).map(({ value }) => value);
  }

  /** Takes over the writes of a checkpoint, but those that are there. */
  async #writesOf(place: Place, there: ReadonlySet<string> = new Set()): Promise<Step> {
    try {
      const byTask = new Map<string, SourceWrite[]>();
      for (const write of await this.#source.writes(this.#thread, place)) {
        if (there.has(JSON.stringify([write.task, write.index]))) continue;
        const list = byTask.get(write.task);
        if (list === undefined) byTask.set(write.task, [write]);
        else list.push(write);
      }
      const handle = this.#handle(place.namespace);
      const results = await Promise.allSettled(
        [...byTask].map(([task, writes]) =>
          handle.putWrites(place.id, {
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
      return { ...nothing, faults: [this.#fault(place, ownFault(error))] };
    }
  }

  #handle(namespace: string): Thread<Record<string, unknown>> {
    return this.#store.thread(this.#thread, { namespace: levelsOf(namespace) });
  }

  #fault({ namespace, id }: Place, message: string): ImportFault {
    return { thread: this.#thread, namespace, checkpoint: id, message };
  }
}

function keyOfInfo(info: CheckpointInfo): string {
  return rowKey({ namespace: namespaceOf(info), id: info.id });
}

function sum(left: Step, right: Step): Step {
  return {
    checkpoints: left.checkpoints + right.checkpoints,
    writes: left.writes + right.writes,
    unchanged: left.unchanged + right.unchanged,
    faults: [...left.faults, ...right.faults],
  };
}

/** What a store has of a thread, by namespace and id. */
async function checkpointsThere(
  store: Store<Record<string, unknown>>,
  thread: string,
): Promise<ReadonlyMap<string, ReadonlyMap<string, CheckpointInfo>>> {
  const there = new Map<string, ReadonlyMap<string, CheckpointInfo>>();
  for (const namespace of await store.thread(thread).namespaces()) {
    const rows = new Map<string, CheckpointInfo>();
    for await (const row of store.thread(thread, { namespace }).history()) {
      rows.set(row.id, row);
      there.set(namespaceOf(row), rows);
    }
  }
  return there;
}
