import type { DirectoryKey, Found, Key, Range } from "../backend.ts";
import { type Table, tables } from "../backend.ts";
import { ALONE } from "./draft.ts";
import type { Engine } from "./engine.ts";
import type { Change } from "./lane.ts";
import { decodeMeta, encodeDirectory, type Meta } from "./meta.ts";
import { metaKey, type Tape } from "./tape.ts";

/**
 * Deletes a thread. If forks build on its tape, the tape stays without a name until they are gone; else it goes at
 * once, and with it tapes that were only kept for it. The epoch of its leases is never used again.
 */
export function deleteThreadChange(): Change<void> {
  return {
    plan: async (draft) => {
      if (!draft.empty) throw ALONE;
      const tape = draft.existing;
      if (!tape) return;
      const key: DirectoryKey = { table: "directory", id: draft.thread };
      if (tape.meta.epoch === 0) draft.deletes.push(key);
      else draft.puts.push({ key, value: encodeDirectory({ epoch: tape.meta.epoch }) });
      const freed = await freedBy(draft.engine, tape);
      draft.closed = true;
      draft.rereads = true;
      if (!freed) {
        draft.change({ dead: true, lease: undefined });
        return;
      }
      draft.deletes.push(...freed);
      draft.removeTape();
    },
  };
}

/**
 * What goes with a tape whose thread ends, besides its meta record: its records, and tapes that were only kept for it.
 * Undefined where forks or copies build on it: then it has to stay.
 */
export async function freedBy(engine: Engine, tape: Tape): Promise<(Key | Range)[] | undefined> {
  const { lineage } = tape;
  const metas = await lineageMetas(engine, lineage);
  if (isBuiltOn(metas, tape.number)) return undefined;
  const freed = recordsOf(lineage, tape.number);
  let number = tape.number;
  for (;;) {
    const origin = metas.get(number)?.origin;
    metas.delete(number);
    const above = origin && metas.get(origin.tape);
    if (!origin || !above?.dead || isBuiltOn(metas, origin.tape)) return freed;
    freed.push(...recordsOf(lineage, origin.tape), metaKey(lineage, origin.tape));
    number = origin.tape;
  }
}

/** All tapes of a lineage, dead ones included. */
export async function lineageMetas(engine: Engine, lineage: number): Promise<Map<number, Meta>> {
  const [found] = (await engine.read([{ scan: { table: "meta", lineage, group: lineage } }])) as readonly [
    readonly Found[],
  ];
  return new Map(found.map((entry) => [entry.item, decodeMeta(entry.value)]));
}

export function isBuiltOn(metas: ReadonlyMap<number, Meta>, tape: number): boolean {
  for (const meta of metas.values()) if (meta.origin?.tape === tape) return true;
  return false;
}

/** Everything a tape has besides its meta record. */
export function recordsOf(lineage: number, tape: number): (Key | Range)[] {
  return (Object.keys(tables) as Table[])
    .filter((table) => table !== "meta")
    .map((table) => ({ table, lineage, group: tape }));
}
