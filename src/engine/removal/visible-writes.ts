import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { byCheckpoint, nameOf, type TaskWrites, visibleTasks, type WriteRecord, writeName } from "../records/writes.ts";
import { levels } from "../view/lineage/levels.ts";
import { shownRows } from "../view/shown-rows.ts";

/**
 * The writes of a lineage that living threads see, by tape and checkpoint. A thread sees the writes of an inherited
 * checkpoint on every tape on the way, whether or not the threads there still show the checkpoint.
 */
export type SeenWrites = ReadonlyMap<number, ReadonlyMap<string, SeenThere>>;

interface SeenThere {
  /** The generations in which threads see the checkpoint's writes. */
  readonly views: number[];
  /** The {@link writeName}s of the writes that at least one thread shows. */
  readonly shown: Set<string>;
}

/** Finds the writes that living threads show, among the write `records` by tape. */
export async function seenWrites(
  context: EngineContext,
  tapes: ReadonlyMap<number, Tape>,
  records: ReadonlyMap<number, readonly WriteRecord[]>,
): Promise<SeenWrites> {
  const written = new Map([...records].map(([number, own]) => [number, byCheckpoint(own)]));
  const names = new Set([...written.values()].flatMap((tasks) => [...tasks.keys()]));
  const seen = new Map<number, Map<string, SeenThere>>();
  if (names.size === 0) return seen;
  for (const tape of tapes.values()) {
    if (tape.meta.dead) continue;
    for await (const { namespace, id, seq } of shownRows(context, tape)) {
      const address = { namespace, checkpoint: id };
      const name = nameOf(address);
      if (!names.has(name)) continue;
      const found = new Set<string>();
      let cut = false;
      for await (const { tape: level, generation } of levels(context, tape, seq)) {
        const there = thereOf(seen, level.number, name);
        there.views.push(generation);
        const tasks = written.get(level.number)?.get(name) ?? [];
        if (!cut) addShown(there.shown, found, visibleTasks(tasks, address, generation));
        cut ||= tasks.some((entry) => entry.cut && (entry.generation ?? 0) <= generation);
      }
    }
  }
  return seen;
}

/** Adds the last write of each task and index that nearer tapes have not shown. */
function addShown(shown: Set<string>, found: Set<string>, tasks: readonly TaskWrites[]): void {
  const last = new Map<string, string>();
  for (const entry of tasks) {
    for (const [index] of entry.writes) last.set(`${index}:${entry.task}`, writeName(entry, index));
  }
  for (const [slot, name] of last) {
    if (found.has(slot)) continue;
    found.add(slot);
    shown.add(name);
  }
}

function thereOf(seen: Map<number, Map<string, SeenThere>>, tape: number, name: string): SeenThere {
  const names = seen.get(tape) ?? new Map<string, SeenThere>();
  seen.set(tape, names);
  const there = names.get(name) ?? { views: [], shown: new Set() };
  names.set(name, there);
  return there;
}
