import type { Found, Read, Value } from "../backend.ts";
import { applyOwned, type Delta, isReplacement, replacedBy } from "../codec/delta.ts";
import type { Json } from "../codec/json.ts";
import { ThreadmarkError } from "../errors.ts";
import type { Engine } from "./engine.ts";
import { decodeMeta } from "./meta.ts";
import { decodeNets, netStretch, type Stretch, stepStretch } from "./pack.ts";
import { decodeRows } from "./pack-rows.ts";
import { frameBytes, type Tape, tailChange } from "./tape.ts";
import { homeOf, rowAt, type Shown } from "./view.ts";

/** A tree that was just built from storage; nobody else holds any part of it. */
export interface LoadedTree {
  readonly tree: Json;
  readonly tagged: boolean;
  /** Bytes that were read for it. */
  readonly weight: number;
  /** How many tapes they came from. */
  readonly hops: number;
}

/** A checkpoint's body as a view shows it: the frame's tree, and on top what replaced it. */
export async function loadShown(engine: Engine, tape: Tape, row: Shown): Promise<LoadedTree> {
  const loaded = await loadTree(engine, tape, row.seq);
  if (row.replacedBy === undefined) return loaded;
  // The change belongs to the frame as it was when the row was found.
  if ((await rowAt(engine, tape, row.seq))?.replacedBy !== row.replacedBy) throw moved(tape, row.seq);
  return { ...loaded, tree: applyOwned(loaded.tree, structuredClone(row.replacedBy)), tagged: true };
}

/**
 * Builds the tree of the frame at `seq`: collects deltas backwards until a full frame, tape by tape and pack by pack,
 * then applies them forwards. When the packs were rewritten meanwhile it starts again.
 */
export async function loadTree(engine: Engine, tape: Tape, seq: number): Promise<LoadedTree> {
  for (let attempt = 0; ; attempt += 1) {
    const walk = new Walk(engine);
    try {
      return await walk.load(tape, seq);
    } catch (error) {
      if (attempt === 2 || !(error instanceof ThreadmarkError) || error.code !== "CORRUPT") throw error;
      for (const touched of [tape, ...walk.tapes]) {
        touched.source = undefined;
        touched.packs = [];
        await engine.refresh(touched.number, touched.lineage);
      }
    }
  }
}

class Walk {
  readonly tapes = new Set<Tape>();
  readonly #engine: Engine;
  /** Runs of deltas, the newest first; each run oldest first. */
  readonly #stretches: (readonly Delta[])[] = [];
  #nets = new Map<number, Value>();
  #page = 16;
  #weight = 0;
  #tagged = false;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async load(tape: Tape, seq: number): Promise<LoadedTree> {
    const { folds } = tape.meta;
    let home = tape;
    let current = seq;
    do {
      const next = await homeOf(this.#engine, home, current);
      if (next !== home) this.#nets = new Map();
      home = next;
      this.tapes.add(home);
      if (home.meta.folds !== folds) throw moved(home, current);
      const stretch = this.#fromTail(home, current) ?? (await this.#fromPack(home, current));
      this.#stretches.push(stretch.deltas);
      this.#tagged ||= stretch.tagged;
      current = stretch.base;
      if (tape.meta.folds !== folds || home.meta.folds !== folds) throw moved(home, current);
    } while (current !== 0);
    return { tree: this.#build(tape, seq), tagged: this.#tagged, weight: this.#weight, hops: this.tapes.size };
  }

  #fromTail(tape: Tape, seq: number): Stretch | undefined {
    const damage = tape.damageAt(seq);
    if (damage) throw damage;
    const entry = tape.tailRow(seq);
    if (!entry) return undefined;
    this.#weight += frameBytes(entry.value);
    const change = tailChange(entry.value);
    return { deltas: [change], base: isReplacement(change) ? 0 : entry.row.parent, tagged: entry.row.tagged };
  }

  async #fromPack(tape: Tape, seq: number): Promise<Stretch> {
    const known = this.#nets.get(seq);
    const net =
      known === undefined
        ? undefined
        : netStretch(
            this.#decode(tape, seq, () => decodeNets(known)),
            seq,
          );
    if (net) {
      this.#weight += (known as Value).length;
      return net;
    }
    const range = { lineage: tape.lineage, group: tape.number };
    const older = {
      ...range,
      table: "net" as const,
      to: seq - 1,
      from: seq === tape.meta.rootSealed ? tape.meta.rootFull : 0,
    };
    const reads: Read[] = [
      { scan: { ...range, table: "net", from: seq }, limit: 1 },
      { scan: older, reverse: true, limit: this.#page },
      { get: tape.metaKey },
    ];
    this.#page = Math.min(this.#page * 4, 256);
    const [[around], below, meta] = (await this.#engine.read(reads)) as readonly [
      readonly Found[],
      readonly Found[],
      Value | undefined,
    ];
    checkFolds(tape, seq, meta);
    for (const found of below) this.#nets.set(found.item, found.value);
    if (!around) throw missing(tape, seq);
    const nets = this.#decode(tape, seq, () => decodeNets(around.value));
    const stretch = netStretch(nets, seq);
    this.#weight += around.value.length;
    return stretch ?? this.#fromSteps(tape, seq, around);
  }

  async #fromSteps(tape: Tape, seq: number, around: Found): Promise<Stretch> {
    const [steps, rows, meta] = (await this.#engine.read([
      { get: tape.key("steps", around.item) },
      { get: tape.key("rows", around.item) },
      { get: tape.metaKey },
    ])) as readonly (Value | undefined)[];
    checkFolds(tape, seq, meta);
    if (steps === undefined || rows === undefined) throw missing(tape, seq);
    this.#weight += steps.length;
    const stretch = this.#decode(tape, seq, () => {
      const seqs = decodeRows(tape.number, rows).map((row) => row.seq);
      return stepStretch(decodeNets(around.value), steps, seqs, seq);
    });
    if (!stretch) throw missing(tape, seq);
    return stretch;
  }

  #build(tape: Tape, seq: number): Json {
    return this.#decode(tape, seq, () => {
      let tree: Json | undefined;
      for (const deltas of this.#stretches.reverse()) {
        for (const delta of deltas) {
          if (isReplacement(delta)) tree = replacedBy(delta);
          else if (tree === undefined) throw missing(tape, seq);
          else tree = applyOwned(tree, delta);
        }
      }
      if (tree === undefined) throw missing(tape, seq);
      return tree;
    });
  }

  /** Adds the frame's address to what the codec complains about. */
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

/** Frames read from storage go with those at hand only if no compaction has changed their content in between. */
function checkFolds(tape: Tape, seq: number, meta: Value | undefined): void {
  if (meta === undefined || (meta !== tape.metaValue && decodeMeta(meta).folds !== tape.meta.folds)) {
    throw moved(tape, seq);
  }
}

/** Not a fault: what was read is read again. */
function moved(tape: Tape, seq: number): ThreadmarkError {
  const frame = `${tape.number}:${seq}`;
  return new ThreadmarkError("CORRUPT", `Frame ${frame} was rewritten by a compaction while it was read. Try again.`, {
    thread: tape.meta.thread,
    frame,
  });
}

function missing(tape: Tape, seq: number): ThreadmarkError {
  const frame = `${tape.number}:${seq}`;
  return new ThreadmarkError("CORRUPT", `Frame ${frame} is missing. Run verify() and restore it from a backup.`, {
    thread: tape.meta.thread,
    frame,
  });
}
