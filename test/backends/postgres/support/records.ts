import type { Backend, Batch, Entry, Found, Key, Table, Value } from "../../../../src/backend.ts";
import { recordText } from "../../../support/texts.ts";

/** A record of lineage `lineage`, whose tape has the same number. */
export function at(table: Table, lineage: number, item: number, part = 0): Key {
  return { table, lineage, group: lineage, item, part };
}

export const metaOf = (tape: number): Key => at("meta", tape, tape);

/** A new tape: its meta record. */
export function creation(tape: number, value: Value = recordText("meta")): Batch {
  return { inserts: [{ key: metaOf(tape), value }] };
}

/** The commit of a step: the meta record is as it was, and the next place on the tape is free. */
export function step(tape: number, seq: number, value: Value, meta: Value = recordText("meta")): Batch {
  return { checks: [{ key: metaOf(tape), value: meta }], inserts: [{ key: at("tail", tape, seq), value }] };
}

/** Returns the batch that seals a tape: its tail moves into packs, and its meta record changes with it. */
export function sealing(tape: number, upTo: number, before: Value, after: Value): Batch {
  const packs: Entry[] = (["rows", "net", "steps"] as const).map((table) => {
    return { key: at(table, tape, upTo), value: recordText({ table, upTo, after }) };
  });
  return {
    checks: [{ key: metaOf(tape), value: before }],
    deletes: [{ table: "tail", lineage: tape, group: tape, to: upTo }],
    inserts: packs,
    puts: [{ key: metaOf(tape), value: after }],
  };
}

export async function tailOf(backend: Backend, tape: number): Promise<readonly Found[]> {
  const [answer] = await backend.read([{ scan: { table: "tail", lineage: tape, group: tape } }]);
  return answer as readonly Found[];
}
