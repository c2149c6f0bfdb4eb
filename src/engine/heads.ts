import type { Value } from "../backend.ts";
import { unwrapJson } from "../codec/envelope.ts";
import type { Engine } from "./engine.ts";
import { hashStrings } from "./hash.ts";
import type { Tape } from "./tape.ts";

/** What is known of the rows of a nested namespace that a tape has sealed, deleted ones included. */
export interface Head {
  /** The last of them. */
  readonly seq: number;
  /** The greatest of their ids. */
  readonly greatestId: string;
}

/** A record of the index: what it says of each namespace with its hash. */
interface HeadRecord {
  readonly [namespace: string]: readonly [seq: number, greatestId: string];
}

/** The head of a namespace; undefined if the tape has sealed no row of it. */
export async function sealedHead(engine: Engine, tape: Tape, namespace: string): Promise<Head | undefined> {
  if (tape.meta.sealed === 0) return undefined;
  const [found] = await engine.read([{ get: tape.key("head", ...hashStrings(namespace)) }]);
  const head = found === undefined ? undefined : (unwrapJson(found as Value) as HeadRecord)[namespace];
  return head && { seq: head[0], greatestId: head[1] };
}

/** The namespaces that a record knows. */
export function namespacesIn(value: Value): readonly string[] {
  return Object.keys(unwrapJson(value) as HeadRecord);
}

/** The record after more rows of a namespace were sealed. */
export function withHead(before: unknown, namespace: string, { seq, greatestId }: Head): HeadRecord {
  const record = before as HeadRecord | undefined;
  const greatest = record?.[namespace]?.[1];
  return { ...record, [namespace]: [seq, greatest !== undefined && greatest > greatestId ? greatest : greatestId] };
}
