import type { Value } from "../../../backend.ts";
import { type Delta, sizeOf, unseal } from "../../../codec/delta/index.ts";
import { unwrapJson } from "../../../codec/envelope.ts";
import type { Json } from "../../../codec/json.ts";
import type { Row } from "../row.ts";
import type { CarriedTask } from "../writes.ts";
import { type Column, unpackColumn } from "./column.ts";
import { malformed } from "./rows.ts";
import { type PackedTrees, unpackTrees } from "./shapes.ts";

/**
 * A pack holds some rows of one tape that follow each other by seq, in three records under the last row's seq:
 * `rows` (metadata, by column), `net` (for each chain, its effect as one delta: all that reading the head needs) and
 * `steps` (the single deltas, with what survives in `net` left out).
 *
 * A chain is a run of rows each of which is what the next builds on. A linear history has one chain a pack; branches,
 * namespaces and full frames start new ones.
 */
export interface Frame {
  readonly row: Row;
  readonly change: Delta;
  /** The writes against its parent that the row carries. */
  readonly writes?: readonly CarriedTask[] | undefined;
}

/** Returns about how many bytes a frame adds to a pack. */
export function sizeOfFrame({ row, change, writes = [] }: Frame): number {
  const parts = [change as Json, row.metadata, writes as unknown as Json];
  return parts.reduce<number>((sum, part) => sum + sizeOf(part, Number.POSITIVE_INFINITY), 0);
}

export interface NetChain {
  /** The seq of the chain's last row. */
  readonly last: number;
  /** The seq of the frame the chain builds on; absent when it begins with a full frame. */
  readonly base?: number;
  /** Absent when nothing builds on the chain: then its steps stand alone. */
  readonly net?: Delta;
  readonly tagged?: true;
}

export interface StepChain {
  /** The seqs of the chain's rows; absent when the chain has all rows of the pack. */
  readonly rows?: readonly number[];
  readonly steps: PackedTrees;
  /** The writes that rows of the pack carry, whatever their chain; only in the first chain. */
  readonly writes?: PackedWrites;
}

/** The writes of some rows of a pack: the seqs of the rows, and for each of them a list of {@link CarriedTask}. */
export interface PackedWrites {
  readonly count: number;
  readonly seqs: Column;
  readonly tasks: PackedTrees;
}

/** The parsed `net` record of a pack. */
export type Nets = readonly NetChain[];

export function decodeNets(value: Value): Nets {
  return unwrapJson(value) as Nets;
}

/** The deltas from the base of a chain (0: from nothing) to one of its rows. */
export interface Stretch {
  readonly deltas: readonly Delta[];
  readonly base: number;
  readonly tagged: boolean;
}

/** Returns the way to `seq` by net changes alone, or undefined where the single steps are needed. */
export function netStretch(nets: Nets, seq: number): Stretch | undefined {
  const chain = nets.find((candidate) => candidate.last === seq);
  if (chain?.net === undefined) return undefined;
  return { deltas: [chain.net], base: chain.base ?? 0, tagged: chain.tagged === true };
}

/** Returns the way to any row of the pack by single steps; undefined when the pack has no such row. */
export function stepStretch(nets: Nets, steps: Value, seqs: readonly number[], seq: number): Stretch | undefined {
  const chains = unwrapJson(steps) as readonly StepChain[];
  for (const [index, chain] of chains.entries()) {
    const position = (chain.rows ?? seqs).indexOf(seq);
    if (position < 0) continue;
    const net = nets[index];
    if (!net) break;
    const tagged = net.tagged === true;
    const base = net.base ?? 0;
    const single = unpackTrees(chain.steps) as readonly Delta[];
    if (single.length === 0 && net.net !== undefined) return { deltas: [net.net], base, tagged };
    const deltas = net.net === undefined ? single.slice(0, position + 1) : unseal(net.net, single, position + 1);
    return { deltas, base, tagged };
  }
  return undefined;
}

/** Returns the writes that the rows of a pack carry, by the seq of the row. Nothing else of the pack is needed. */
export function decodeCarried(steps: Value): ReadonlyMap<number, readonly CarriedTask[]> {
  return carriedIn(unwrapJson(steps) as readonly StepChain[]);
}

function carriedIn([first]: readonly StepChain[]): ReadonlyMap<number, readonly CarriedTask[]> {
  if (!first?.writes) return new Map();
  const { count, seqs, tasks } = first.writes;
  const lists = unpackTrees(tasks) as unknown as readonly (readonly CarriedTask[])[];
  const rows = unpackColumn(seqs, count, null) as readonly number[];
  if (rows.length !== count || lists.length !== count) throw malformed();
  return new Map(rows.map((seq, index) => [seq, lists[index] as readonly CarriedTask[]]));
}

/** Returns all frames of a pack, each with a delta of its own. */
export function decodeFrames(rows: readonly Row[], netValue: Value, stepsValue: Value): Frame[] {
  const nets = decodeNets(netValue);
  const chains = unwrapJson(stepsValue) as readonly StepChain[];
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  const seqs = rows.map((row) => row.seq);
  const frames: Frame[] = [];
  const carried = carriedIn(chains);
  for (const [index, chain] of chains.entries()) {
    const net = nets[index]?.net;
    const members = chain.rows ?? seqs;
    const single = unpackTrees(chain.steps) as readonly Delta[];
    const deltas =
      single.length === 0 ? [net as Delta] : net === undefined ? single : unseal(net, single, members.length);
    for (const [position, seq] of members.entries()) {
      const row = bySeq.get(seq);
      const change = deltas[position];
      if (!row || change === undefined || (row.carries !== undefined) !== carried.has(seq)) throw malformed();
      frames.push(row.carries ? { row, change, writes: carried.get(seq) } : { row, change });
    }
  }
  if (frames.length !== rows.length) throw malformed();
  return frames.sort((left, right) => left.row.seq - right.row.seq);
}
