import type { Value } from "../../backend.ts";
import { unwrapJson } from "../../codec/envelope.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { hashStrings } from "../records/hash.ts";
import { type Head, type HeadRecord, headIn } from "../records/heads.ts";

/** Heads remembered of a tape. */
const MOST_HEADS = 100;

/**
 * Returns the head of a namespace; undefined if the tape has sealed no row of it. Remembered as long as `meta` stays as
 * it is.
 */
export async function sealedHead(context: EngineContext, tape: Tape, namespace: string): Promise<Head | undefined> {
  const { metaValue, heads } = tape;
  if (tape.meta.sealed === 0) return undefined;
  if (heads.has(namespace)) return heads.get(namespace);
  const [found] = await context.read([{ get: tape.key("head", ...hashStrings(namespace)) }]);
  const head = found === undefined ? undefined : headIn(unwrapJson(found as Value) as HeadRecord, namespace);
  if (tape.metaValue === metaValue) {
    if (heads.size >= MOST_HEADS) heads.clear();
    heads.set(namespace, head);
  }
  return head;
}
