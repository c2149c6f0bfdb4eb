import type { Found } from "../backend.ts";
import { unwrapJson } from "../codec/envelope.ts";
import type { Engine } from "./engine.ts";
import { shownRows } from "./shown-rows.ts";
import type { Tape } from "./tape.ts";
import { nameOf, type TaskWrites } from "./task-writes.ts";
import { NOW } from "./view.ts";

/**
 * What living threads see of the writes of a lineage: by tape and checkpoint, the generations they see them in. A thread
 * sees those of what it inherits on every tape on the way, whether or not the threads there still show the checkpoint.
 */
export type SeenWrites = ReadonlyMap<number, ReadonlyMap<string, readonly number[]>>;

export async function seenWrites(engine: Engine, tapes: ReadonlyMap<number, Tape>): Promise<SeenWrites> {
  const written = await writtenNames(engine, tapes);
  const seen = new Map<number, Map<string, number[]>>();
  if (written.size === 0) return seen;
  for (const tape of tapes.values()) {
    if (tape.meta.dead) continue;
    for await (const { namespace, id, seq } of shownRows(engine, tape)) {
      const name = nameOf({ namespace, checkpoint: id });
      if (!written.has(name)) continue;
      let generation = NOW;
      for (let level = tape; ; ) {
        const names = seen.get(level.number) ?? new Map<string, number[]>();
        seen.set(level.number, names.set(name, [...(names.get(name) ?? []), generation]));
        const { origin } = level.meta;
        if (!origin || seq > origin.upTo) break;
        generation = origin.generation;
        level = level.source ?? (await engine.tapes.sourceOf(level, origin));
      }
    }
  }
  return seen;
}

/** The checkpoints that anything was ever written for, as far as it is there. */
async function writtenNames(engine: Engine, tapes: ReadonlyMap<number, Tape>): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const { lineage, number: group } of tapes.values()) {
    const [found] = await engine.read([{ scan: { table: "write", lineage, group } }]);
    for (const { value } of found as readonly Found[]) {
      for (const entry of unwrapJson(value) as readonly TaskWrites[]) names.add(nameOf(entry));
    }
  }
  return names;
}
