import type { Json } from "../../codec/json.ts";
import { resolveInState } from "../../codec/state-references.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import type { Body } from "../records/body.ts";
import type { EncodedWrite } from "../view/shown-writes.ts";
import { loadPage } from "./load-page.ts";
import { loadReferring, loadTree } from "./load-tree.ts";

/**
 * Returns writes with values in place of references into the state of the row that carries them. The values may share nodes
 * with each other: the caller must not change them. With `referring`, references to large values stay.
 */
export async function withStateValues<Writes extends EncodedWrite>(
  context: EngineContext,
  writes: readonly Writes[],
  referring = false,
): Promise<readonly Writes[]> {
  const carriers = new Map<Tape, Set<number>>();
  for (const { carriedBy } of writes) {
    if (!carriedBy) continue;
    const seqs = carriers.get(carriedBy.tape);
    if (seqs) seqs.add(carriedBy.seq);
    else carriers.set(carriedBy.tape, new Set([carriedBy.seq]));
  }
  if (carriers.size === 0) return writes;
  const states = new Map<Tape, ReadonlyMap<number, Json>>();
  for (const [tape, seqs] of carriers) states.set(tape, await statesOf(context, tape, [...seqs], referring));
  return writes.map((write) => {
    const { carriedBy, ...rest } = write;
    if (!carriedBy) return write;
    const state = states.get(carriedBy.tape)?.get(carriedBy.seq) as Json;
    return { ...rest, value: resolveInState(write.value, state) } as Writes;
  });
}

async function statesOf(
  context: EngineContext,
  tape: Tape,
  seqs: readonly number[],
  referring: boolean,
): Promise<ReadonlyMap<number, Json>> {
  const newestFirst = seqs.toSorted((left, right) => right - left).map((seq) => ({ seq }));
  const page = await loadPage(context, tape, newestFirst, referring);
  const states = new Map<number, Json>();
  for (const { seq } of newestFirst) {
    const known = page.get(seq) ?? (await (referring ? loadReferring : loadTree)(context, tape, seq));
    states.set(seq, (known.tree as Body).s);
  }
  return states;
}
