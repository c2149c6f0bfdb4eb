import type { Value } from "../../backend.ts";
import type { Fault } from "../../model/interface/results.ts";
import { ifDamaged } from "../faults/damage.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { metaKey } from "../records/keys.ts";
import { decodeMeta } from "../records/meta.ts";
import { sourceOf } from "../view/lineage/levels.ts";
import { NumberRange } from "./number-range.ts";

/**
 * Finds numbers that tapes of several lineages have. No such number is given out now, but earlier versions did, and then could
 * take one tape for the other.
 *
 * Invariant: a tape that begins a lineage has the lineage's number. So of two tapes that share a number, one at least is a fork:
 * the other is looked up if it begins a lineage, and remembered if it is a fork too. A store of more forks than are remembered
 * at once is gone through again for the rest, by meta records alone.
 */
export class SharedNumbers {
  readonly #context: EngineContext;
  #range = new NumberRange();
  /** The lineages of each number that two tapes have. */
  readonly #shared = new Map<number, Set<number>>();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** Adds the tape of a thread, and those below it whose own threads were deleted: no other list has them. */
  async add(thread: Tape): Promise<void> {
    for (let tape = thread; ; ) {
      if (tape.number !== tape.lineage) await this.#addFork(tape);
      const { origin } = tape.meta;
      if (!origin) return;
      const source = await Promise.resolve(sourceOf(this.#context, tape, origin)).catch(ifDamaged);
      if (!source?.meta.dead) return;
      tape = source;
    }
  }

  async #addFork({ number, lineage }: Tape): Promise<void> {
    this.#range.add(number, lineage);
    // Looked up with the first pass over the store only: it sees every fork.
    if (this.#range.from > 0) return;
    const [first] = (await this.#context.read([{ get: metaKey(number, number) }]).catch(ifDamaged)) ?? [];
    if (first !== undefined) this.#share(number, [lineage, number]);
  }

  /** Notes the numbers that were met twice. Returns true if there are others that were not remembered: add all tapes again. */
  next(): boolean {
    for (const [number, lineages] of this.#range.repeated()) this.#share(number, lineages);
    const rest = this.#range.rest();
    if (rest) this.#range = rest;
    return rest !== undefined;
  }

  #share(number: number, lineages: readonly number[]): void {
    const known = this.#shared.get(number) ?? new Set();
    for (const lineage of lineages) known.add(lineage);
    this.#shared.set(number, known);
  }

  /** Returns a fault for each tape whose number a tape of another lineage has. */
  async faults(): Promise<Fault[]> {
    const faults: Fault[] = [];
    for (const [number, lineages] of this.#shared) {
      const owners = (await this.#owners(number, [...lineages]).catch(ifDamaged)) ?? [];
      if (owners.length > 1) for (const owner of owners) faults.push(faultOf(number, owner, owners));
    }
    return faults;
  }

  /** Returns the tapes of this number that are still there. */
  async #owners(number: number, lineages: readonly number[]): Promise<readonly Owner[]> {
    const keys = lineages.map((lineage) => metaKey(lineage, number));
    const values = (await this.#context.read(keys.map((get) => ({ get })))) as readonly (Value | undefined)[];
    return values.flatMap((value) => (value === undefined ? [] : [{ thread: decodeMeta(value).thread }]));
  }
}

interface Owner {
  readonly thread: string;
}

function faultOf(number: number, owner: Owner, all: readonly Owner[]): Fault {
  const others = all.filter((other) => other !== owner).map(({ thread }) => JSON.stringify(thread));
  const message =
    `its tape has the number ${number}, as has that of ${others.join(", ")}: an earlier version may have mixed them. ` +
    "Compare them with a backup, then export both and import them into a new store.";
  return { thread: owner.thread, checkpoint: null, message };
}
