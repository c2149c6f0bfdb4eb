import type { Entry, Found, Key, Value } from "../../backend.ts";
import { unwrapJson, wrapJson } from "../../codec/envelope.ts";
import type { Engine } from "../engine.ts";
import type { Tape } from "../memory/tape.ts";
import { hashStrings } from "./hash.ts";

/** What is known of the rows of a nested namespace that a tape has sealed, deleted ones included. */
export interface Head {
  /** The last of them. */
  readonly seq: number;
  /** The greatest of their ids, if it is known. */
  readonly greatestId: string | undefined;
}

/** A record of the index: what it says of each namespace with its hash. Where the greatest id is not known, a seq alone. */
interface HeadRecord {
  readonly [namespace: string]: number | readonly [seq: number, greatestId: string];
}

/** So many heads are remembered of a tape. */
const MOST_HEADS = 100;

/** The head of a namespace; undefined if the tape has sealed no row of it. Remembered as long as `meta` stays as it is. */
export async function sealedHead(engine: Engine, tape: Tape, namespace: string): Promise<Head | undefined> {
  const { metaValue, heads } = tape;
  if (tape.meta.sealed === 0) return undefined;
  if (heads.has(namespace)) return heads.get(namespace);
  const [found] = await engine.read([{ get: tape.key("head", ...hashStrings(namespace)) }]);
  const head = found === undefined ? undefined : headIn(unwrapJson(found as Value) as HeadRecord, namespace);
  if (tape.metaValue === metaValue) {
    if (heads.size >= MOST_HEADS) heads.clear();
    heads.set(namespace, head);
  }
  return head;
}

function headIn(record: HeadRecord, namespace: string): Head | undefined {
  const head = record[namespace];
  if (head === undefined) return undefined;
  return typeof head === "number" ? { seq: head, greatestId: undefined } : { seq: head[0], greatestId: head[1] };
}

/** The namespaces that a record knows. */
export function namespacesIn(value: Value): readonly string[] {
  return Object.keys(unwrapJson(value) as HeadRecord);
}

/** The record after more rows of a namespace were sealed: the last of them, and their greatest id. */
export function withHead(before: unknown, namespace: string, seq: number, greatestId: string): HeadRecord {
  const record = (before ?? {}) as HeadRecord;
  const known = headIn(record, namespace);
  if (known?.greatestId === undefined) return { ...record, [namespace]: known ? seq : [seq, greatestId] };
  return { ...record, [namespace]: [seq, known.greatestId > greatestId ? known.greatestId : greatestId] };
}

/** What takes namespaces out of the index of which the tape has no row any more. */
export async function withoutHeads(
  engine: Engine,
  tape: Tape,
  remaining: ReadonlySet<string>,
): Promise<{ readonly deletes: readonly Key[]; readonly puts: readonly Entry[] }> {
  const deletes: Key[] = [];
  const puts: Entry[] = [];
  if (tape.meta.sealed === 0) return { deletes, puts };
  const { lineage, number: group } = tape;
  const [found] = await engine.read([{ scan: { table: "head", lineage, group } }]);
  for (const { item, part, value } of found as readonly Found[]) {
    const heads = Object.entries(unwrapJson(value) as HeadRecord);
    const kept = heads.filter(([namespace]) => remaining.has(namespace));
    const key = tape.key("head", item, part);
    if (kept.length === 0) deletes.push(key);
    else if (kept.length < heads.length) puts.push({ key, value: wrapJson(Object.fromEntries(kept)) });
  }
  return { deletes, puts };
}
