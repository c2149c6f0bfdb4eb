import type { Found } from "../../backend.ts";
import { applyOwned, type Delta, isReplacement, replacedBy } from "../../codec/delta/index.ts";
import { refers } from "../../codec/envelope.ts";
import type { Json } from "../../codec/json.ts";
import { ThreadmarkError } from "../../errors.ts";
import { lowerBound } from "../../model/seq.ts";
import { untilUndisturbed } from "../faults/attempts.ts";
import { missingFrame } from "../faults/missing.ts";
import { Overtaken } from "../faults/overtaken.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import type { CopiedTree } from "../memory/tree-cache.ts";
import { decodeNets, type Nets, netStretch, type Stretch, stepStretch } from "../records/pack/pack.ts";
import { decodeRows } from "../records/pack/rows.ts";
import { frameBytes, takeChange } from "../records/tail.ts";
import { renew, rewriteCheck, rewritesOf } from "../view/lineage/renew.ts";
import { homeOf, rowAt, type Shown } from "../view/row-at.ts";
import { PackRecords } from "./pack-records.ts";
import { ValueReader } from "./values/read-values.ts";

/** A tree that was just built from storage; the caller alone holds its nodes. */
export interface LoadedTree {
  readonly tree: Json;
  readonly tagged: boolean;
  /** Bytes that were read for it. */
  readonly weight: number;
  /** How many tapes they came from. */
  readonly hops: number;
}

/** Builds a checkpoint's body as a view shows it: the frame's tree, with the replacement on top. */
export async function loadShown(
  context: EngineContext,
  tape: Tape,
  row: Shown,
  records?: PackRecords,
): Promise<LoadedTree> {
  if (row.replacedBy === undefined) return loadTree(context, tape, row.seq, records);
  const referring = await loadShownReferring(context, tape, row, records);
  return { ...referring, tree: await new ValueReader(context, tape).resolveOwned(referring.tree) };
}

/** Builds a checkpoint's body as a view shows it, with references in place of large values. */
export async function loadShownReferring(
  context: EngineContext,
  tape: Tape,
  row: Shown,
  records?: PackRecords,
): Promise<LoadedTree> {
  const loaded = await loadReferring(context, tape, row.seq, records);
  if (row.replacedBy === undefined) return loaded;
  // The replacement is a change of the frame as it was when the row was found.
  const now = (await rowAt(context, tape, row.seq))?.replacedBy;
  if (now !== row.replacedBy && JSON.stringify(now) !== JSON.stringify(row.replacedBy)) throw new Overtaken(tape);
  return { ...loaded, tree: applyOwned(loaded.tree, structuredClone(row.replacedBy)), tagged: true };
}

/**
 * Builds the tree of the frame at `seq`: collects deltas backwards until a full frame or a remembered tree, tape by tape
 * and pack by pack, then applies them forwards. Begins again when packs were rewritten meanwhile; throws {@link Overtaken}
 * when `tape` itself is gone, or out of date for good, since the caller's rows are then, too.
 */
export function loadTree(context: EngineContext, tape: Tape, seq: number, records?: PackRecords): Promise<LoadedTree> {
  return load(context, tape, seq, records, false);
}

/**
 * Builds the tree of a frame likewise, with references in place of large values: for a frame that is written anew,
 * which needs none of them.
 */
export function loadReferring(
  context: EngineContext,
  tape: Tape,
  seq: number,
  records?: PackRecords,
): Promise<LoadedTree> {
  return load(context, tape, seq, records, true);
}

async function load(
  context: EngineContext,
  tape: Tape,
  seq: number,
  records: PackRecords = new PackRecords(context),
  referring: boolean,
): Promise<LoadedTree> {
  const wasRewritten = rewriteCheck(async () => {
    const now = await renew(context, tape);
    if (!now || (now !== tape && rewritesOf(now) !== rewritesOf(tape))) throw new Overtaken(tape);
    return now;
  });
  return untilUndisturbed(
    tape.meta.thread,
    (again) => new Walk(context, again ? new PackRecords(context) : records, referring).load(tape, seq),
    wasRewritten,
  );
}

class Walk {
  readonly #tapes = new Set<Tape>();
  readonly #context: EngineContext;
  readonly #records: PackRecords;
  /** Runs of deltas, the newest first; each run oldest first. */
  readonly #stretches: (readonly Delta[])[] = [];
  #weight = 0;
  #tagged = false;
  /** True once the walk has gone through single steps of a pack. */
  #within = false;
  /** The index in the tail below the row that was found there last. */
  #below = -1;
  /** True if references stay. */
  readonly #referring: boolean;
  /** True if a record that was read has references. */
  #refers = false;

  constructor(context: EngineContext, records: PackRecords, referring: boolean) {
    this.#context = context;
    this.#records = records;
    this.#referring = referring;
  }

  async load(tape: Tape, seq: number): Promise<LoadedTree> {
    const { folds } = tape.meta;
    let home = tape;
    let current = seq;
    let base: CopiedTree | undefined;
    do {
      // A remembered tree holds the large values themselves.
      base = this.#referring ? undefined : this.#context.trees.copy(tape, current);
      if (base) break;
      home = await homeOf(this.#context, home, current);
      this.#tapes.add(home);
      if (home.meta.folds !== folds) throw new Overtaken(home);
      const stretch = this.#fromTail(home, current) ?? (await this.#fromPack(home, current));
      this.#stretches.push(stretch.deltas);
      this.#tagged ||= stretch.tagged;
      current = stretch.base;
      if (tape.meta.folds !== folds || home.meta.folds !== folds) throw new Overtaken(home);
    } while (current !== 0);
    const built = this.#build(tape, seq, base?.tree);
    const resolves = this.#refers && !this.#referring;
    return {
      tree: resolves ? await new ValueReader(this.#context, tape).resolveOwned(built) : built,
      tagged: this.#tagged || base?.tagged === true,
      weight: this.#weight + (base?.weight ?? 0),
      hops: Math.max(this.#tapes.size, 1) + (base ? base.hops - 1 : 0),
    };
  }

  #fromTail(tape: Tape, seq: number): Stretch | undefined {
    const damage = tape.damageAt(seq);
    if (damage) throw damage;
    // A parent is usually the row before.
    const before = tape.tail[this.#below];
    const index = before?.row.seq === seq ? this.#below : lowerBound(tape.tail, seq, ({ row }) => row.seq);
    const entry = tape.tail[index];
    if (entry?.row.seq !== seq) return undefined;
    this.#below = index - 1;
    this.#weight += frameBytes(entry);
    this.#refers ||= refers(entry.value);
    const change = takeChange(entry);
    return { deltas: [change], base: isReplacement(change) ? 0 : entry.row.base, tagged: entry.row.tagged };
  }

  /** Takes the net change of a pack, or its single steps where the row is in its midst. */
  async #fromPack(tape: Tape, seq: number): Promise<Stretch> {
    const around = this.#records.knownNet(tape, seq) ?? (await this.#records.net(tape, seq));
    const nets = this.#decode(tape, seq, () => decodeNets(around.value));
    const stretch = netStretch(nets, seq);
    if (!stretch) return this.#fromSteps(tape, seq, around, nets);
    this.#weight += around.value.length;
    this.#refers ||= refers(around.value);
    return stretch;
  }

  async #fromSteps(tape: Tape, seq: number, around: Found, nets: Nets): Promise<Stretch> {
    const { rows, net, steps } = await this.#records.pack(tape, around.item);
    const stretch = this.#decode(tape, seq, () => {
      const seqs = decodeRows(tape.number, rows).map((row) => row.seq);
      // Only the share of the first pack up to the row counts toward the weight; otherwise every branch from an old
      // pack would get a full frame. Later packs count as a whole.
      const share = this.#within ? 1 : (seqs.indexOf(seq) + 1) / seqs.length;
      this.#within = true;
      this.#weight += (net.length + steps.length) * share;
      this.#refers ||= refers(net);
      return stepStretch(net === around.value ? nets : decodeNets(net), steps, seqs, seq);
    });
    if (!stretch) throw missingFrame(tape, seq);
    return stretch;
  }

  #build(tape: Tape, seq: number, base: Json | undefined): Json {
    return this.#decode(tape, seq, () => {
      let tree = base;
      for (const deltas of this.#stretches.reverse()) {
        for (const delta of deltas) {
          if (isReplacement(delta)) tree = replacedBy(delta);
          else if (tree === undefined) throw missingFrame(tape, seq);
          else tree = applyOwned(tree, delta);
        }
      }
      if (tree === undefined) throw missingFrame(tape, seq);
      return tree;
    });
  }

  /** Adds the frame's address to an error of the codec. */
  #decode<T>(tape: Tape, seq: number, decode: () => T): T {
    try {
      return decode();
    } catch (error) {
      if (!(error instanceof ThreadmarkError) || error.frame !== undefined) throw error;
      const frame = `${tape.number}:${seq}`;
      throw new ThreadmarkError(error.code, `Frame ${frame}: ${error.message}`, {
        thread: tape.meta.thread,
        frame,
        cause: error,
      });
    }
  }
}
