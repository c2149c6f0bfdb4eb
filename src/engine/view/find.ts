import type { Value } from "../../backend.ts";
import { unwrapJson } from "../../codec/envelope.ts";
import { idAddress } from "../../model/id.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { hashStrings } from "../records/hash.ts";
import type { TailRow } from "../records/tail.ts";
import { levels } from "./lineage/levels.ts";
import { inheritedNamespaces } from "./lineage/namespaces.ts";
import { isPlain, rowAt, type Shown } from "./row-at.ts";
import { sealedHead } from "./sealed-head.ts";
import { inheritedSeqs, shownRows } from "./shown-rows.ts";

/** Tells whether a view shows this seq at all, given that the row exists and was not deleted. */
async function includes(context: EngineContext, tape: Tape, seq: number, namespace: string): Promise<boolean> {
  for await (const { tape: level } of levels(context, tape, seq)) {
    const { origin } = level.meta;
    if (!origin || seq > origin.upTo) return true;
    if (origin.mode === "none") return false;
    if (origin.mode === "chain") {
      for await (const inherited of inheritedSeqs(context, level, namespace, seq + 1)) return inherited === seq;
      return false;
    }
  }
  return true;
}

/** Finds the checkpoint of a namespace with a seq, if the thread shows it. */
export async function findBySeq(
  context: EngineContext,
  tape: Tape,
  namespace: string,
  seq: number,
): Promise<Shown | undefined> {
  const row = await rowAt(context, tape, seq);
  if (row?.namespace !== namespace) return undefined;
  return (await includes(context, tape, seq, namespace)) ? row : undefined;
}

/** Returns the checkpoint of a namespace that was committed last. */
export async function headOf(context: EngineContext, tape: Tape, namespace: string): Promise<Shown | undefined> {
  for (let index = tape.tail.length - 1; index >= 0; index -= 1) {
    const { row, root } = tape.tail[index] as TailRow;
    if (tape.damaged.length > 0) tape.checkIntact(row.seq);
    if (row.namespace === namespace) {
      const shown = (isPlain(tape) ? row : undefined) ?? (await rowAt(context, tape, row.seq));
      if (shown) return shown;
    }
    if (namespace === "" && root === 0) break;
  }
  tape.checkIntact();
  const sealed = await lastSealed(context, tape, namespace);
  // Without a sealed row only inherited ones are left, and most namespaces are new to the thread.
  if (sealed === 0 && !(await inherits(context, tape, namespace))) return undefined;
  const row = sealed === 0 ? undefined : await rowAt(context, tape, sealed);
  if (row) return row;
  const before = tape.tail[0]?.row.seq ?? tape.lastSeq + 1;
  for await (const older of shownRows(context, tape, { namespace, before })) return older;
  return undefined;
}

/** Returns the last row of a namespace that the tape itself has sealed, deleted or not; 0 if there is none. */
async function lastSealed(context: EngineContext, tape: Tape, namespace: string): Promise<number> {
  return namespace === "" ? tape.meta.rootSealed : ((await sealedHead(context, tape, namespace))?.seq ?? 0);
}

/** Tells whether a fork may have inherited rows of a namespace. */
async function inherits(context: EngineContext, tape: Tape, namespace: string): Promise<boolean> {
  const { origin } = tape.meta;
  if (!origin || origin.mode === "none") return false;
  return namespace === "" || (await inheritedNamespaces(context, tape)).has(namespace);
}

/** Returns the checkpoint with this id, if the thread shows it. */
export async function findById(
  context: EngineContext,
  tape: Tape,
  namespace: string,
  id: string,
): Promise<Shown | undefined> {
  for (let index = tape.tail.length - 1; index >= 0; index -= 1) {
    const { row } = tape.tail[index] as TailRow;
    if (row.id === id && row.namespace === namespace) {
      const shown = await rowAt(context, tape, row.seq);
      if (shown) return shown;
    }
  }
  const address = idAddress(id);
  if (address) {
    for await (const { tape: level } of levels(context, tape)) {
      if (level.number !== address.tape) continue;
      const row = await findBySeq(context, tape, namespace, address.seq);
      if (row?.id === id) return row;
      break;
    }
  }
  return findByIndex(context, tape, namespace, id);
}

/** Looks the id up in the index and the tail of every tape the thread builds on, nearest first. */
async function findByIndex(
  context: EngineContext,
  tape: Tape,
  namespace: string,
  id: string,
): Promise<Shown | undefined> {
  const [item, part] = hashStrings(namespace, id);
  for await (const { tape: level } of levels(context, tape)) {
    const candidates: number[] = [];
    const greatest = level.meta.greatestId;
    if (greatest !== undefined && id <= greatest) {
      const [found] = await context.read([{ get: level.key("id", item, part) }]);
      if (found !== undefined) candidates.push(...(unwrapJson(found as Value) as number[]).toReversed());
    }
    if (level !== tape) {
      for (const { row } of level.tail) if (row.id === id && row.namespace === namespace) candidates.unshift(row.seq);
    }
    for (const seq of candidates) {
      const row = await findBySeq(context, tape, namespace, seq);
      if (row?.id === id) return row;
    }
    // A record that cannot be read may be the wanted one.
    level.checkIntact();
  }
  return undefined;
}
