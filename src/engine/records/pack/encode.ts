import type { Value } from "../../../backend.ts";
import { finished, isReplacement, type Pieces, sealing } from "../../../codec/delta/index.ts";
import { type Compression, wrapJson } from "../../../codec/envelope.ts";
import type { Json } from "../../../codec/json.ts";
import { addNames } from "../../../codec/references.ts";
import { REFERRING } from "../values.ts";
import { packColumn } from "./column.ts";
import type { Frame, NetChain, PackedWrites, StepChain } from "./pack.ts";
import { encodeRows } from "./rows.ts";
import { packTrees } from "./shapes.ts";

export interface EncodedPack {
  readonly last: number;
  readonly rows: Value;
  readonly net: Value;
  readonly steps: Value;
  /** The last seq of the pack's newest chain per namespace that begins with a full frame: nothing older is needed. */
  readonly full: ReadonlyMap<string, number>;
}

interface PackChain {
  base: number;
  namespace: string;
  readonly frames: Frame[];
}

function chainsOf(frames: readonly Frame[]): PackChain[] {
  const chains: PackChain[] = [];
  const open = new Map<number, PackChain>();
  for (const frame of frames) {
    const full = isReplacement(frame.change);
    let chain = full ? undefined : open.get(frame.row.base);
    if (chain) {
      open.delete(frame.row.base);
      chain.frames.push(frame);
    } else {
      chain = { base: full ? 0 : frame.row.base, namespace: frame.row.namespace, frames: [frame] };
      chains.push(chain);
    }
    open.set(frame.row.seq, chain);
  }
  return chains;
}

function packedWrites(frames: readonly Frame[]): PackedWrites | undefined {
  const carrying = frames.filter((frame) => frame.writes !== undefined);
  if (carrying.length === 0) return undefined;
  return {
    count: carrying.length,
    seqs: packColumn(
      carrying.map(({ row }) => row.seq),
      null,
    ) as Json,
    tasks: packTrees(carrying.map((frame) => frame.writes as unknown as Json)),
  };
}

export function encodePack(tape: number, frames: readonly Frame[], compression: Compression): EncodedPack {
  return finished(encodingPack(tape, frames, compression));
}

/** Does the work of {@link encodePack} in pieces. `names`: the large values that the frames refer to, where the caller knows. */
export function* encodingPack(
  tape: number,
  frames: readonly Frame[],
  compression: Compression,
  names: ReadonlyMap<string, number> = namesOf(frames),
): Pieces<EncodedPack> {
  const last = (frames.at(-1) as Frame).row.seq;
  const nets: NetChain[] = [];
  const steps: StepChain[] = [];
  const full = new Map<string, number>();
  const chains = chainsOf(frames);
  const lastOfNamespace = new Map(chains.map((chain) => [chain.namespace, chain]));
  for (const chain of chains) {
    const deltas = chain.frames.map((frame) => frame.change);
    const end = (chain.frames.at(-1) as Frame).row.seq;
    const alone = deltas.length === 1;
    const isBuiltOn = lastOfNamespace.get(chain.namespace) === chain;
    const sealed = !alone && isBuiltOn ? yield* sealing(deltas) : undefined;
    const net = alone ? deltas[0] : sealed?.net;
    nets.push({
      last: end,
      ...(chain.base !== 0 && { base: chain.base }),
      ...(net !== undefined && { net }),
      ...(chain.frames.some((frame) => frame.row.tagged) && { tagged: true as const }),
    });
    steps.push({
      ...(chain.frames.length !== frames.length && { rows: chain.frames.map((frame) => frame.row.seq) }),
      steps: alone ? [] : packTrees((sealed?.steps ?? deltas) as readonly Json[]),
    });
    if (chain.base === 0) full.set(chain.namespace, last);
    yield;
  }
  const writes = packedWrites(frames);
  if (writes) steps[0] = { ...(steps[0] as StepChain), writes };
  const version = names.size > 0 ? REFERRING : "1";
  const allRows = frames.map((frame) => frame.row);
  const net = wrapJson(nets, compression, version);
  yield;
  const ofSteps = wrapJson(steps, compression, version);
  yield;
  const rows = wrapJson(encodeRows(tape, allRows, names, net.length + ofSteps.length), compression, version);
  return { last, rows, net, steps: ofSteps, full };
}

function namesOf(frames: readonly Frame[]): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  for (const { change, writes = [] } of frames) addNames([change, writes] as unknown as Json, names);
  return names;
}
