import type { Value } from "../../backend.ts";
import type { Fault } from "../../model/interface/results.ts";
import { ifDamaged } from "../faults/damage.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { metaKey } from "../records/keys.ts";
import { decodeMeta } from "../records/meta.ts";

const LINEAGE_BITS = 31n;
const FIRST_CAPACITY = 1024;

/**
 * Collects tapes by number and lineage, in eight bytes each, to find numbers that tapes of several lineages have. No such
 * number is given out now, but earlier versions did, and then could take one tape for the other.
 */
export class TapeNumbers {
  readonly #context: Context;
  #tapes = new BigUint64Array(FIRST_CAPACITY);
  #count = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Adds the tape of a thread, and those below it whose own threads were deleted: no other list has them. */
  async add(thread: Tape): Promise<void> {
    for (let tape = thread; ; ) {
      this.#push(tape);
      const { origin } = tape.meta;
      if (!origin) return;
      const source = tape.source ?? (await this.#context.tapes.sourceOf(tape, origin).catch(ifDamaged));
      if (!source?.meta.dead) return;
      tape = source;
    }
  }

  #push({ number, lineage }: Tape): void {
    if (this.#count === this.#tapes.length) {
      const larger = new BigUint64Array(2 * this.#count);
      larger.set(this.#tapes);
      this.#tapes = larger;
    }
    this.#tapes[this.#count] = (BigInt(number) << LINEAGE_BITS) | BigInt(lineage);
    this.#count += 1;
  }

  /** Returns a fault for each tape whose number a tape of another lineage has. */
  async faults(): Promise<Fault[]> {
    const faults: Fault[] = [];
    for (const [number, lineages] of this.#shared()) {
      const owners = (await this.#owners(number, lineages).catch(ifDamaged)) ?? [];
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

  *#shared(): Generator<readonly [number: number, lineages: readonly number[]]> {
    const tapes = new Set<bigint>();
    let number = -1n;
    for (const tape of this.#tapes.subarray(0, this.#count).sort()) {
      if (tape >> LINEAGE_BITS !== number) {
        if (tapes.size > 1) yield [Number(number), [...tapes].map(lineageOf)];
        tapes.clear();
        number = tape >> LINEAGE_BITS;
      }
      tapes.add(tape);
    }
    if (tapes.size > 1) yield [Number(number), [...tapes].map(lineageOf)];
  }
}

interface Owner {
  readonly thread: string;
}

function lineageOf(tape: bigint): number {
  return Number(BigInt.asUintN(Number(LINEAGE_BITS), tape));
}

function faultOf(number: number, owner: Owner, all: readonly Owner[]): Fault {
  const others = all.filter((other) => other !== owner).map(({ thread }) => JSON.stringify(thread));
  const message =
    `its tape has the number ${number}, as has that of ${others.join(", ")}: an earlier version may have mixed them. ` +
    "Compare them with a backup, then export both and import them into a new store.";
  return { thread: owner.thread, checkpoint: null, message };
}
