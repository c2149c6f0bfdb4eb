import type { Answer, Backend, Found, Read, Value } from "../../backend.ts";
import { ThreadmarkError } from "../../errors.ts";
import { observedRead } from "../../platform/diagnostics.ts";
import { metaKey, rangeOf, tapeName } from "../records/keys.ts";
import { decodeMarks } from "../records/marks.ts";
import { decodeMeta, type Origin } from "../records/meta.ts";
import { ByteCache } from "./byte-cache.ts";
import { Tape } from "./tape.ts";

/** Reads that travel with the refresh of a tape, so that both take one round trip. */
export interface Along {
  /** Returns the reads to add, planned on the tape as it was last seen. */
  reads(lineage: number, tape: number, known: Tape | undefined): readonly Read[];
  /** Takes the answers to those reads, and the meta record they were read with. */
  take(metaValue: Value | undefined, answers: readonly Answer[]): void;
}

/** The remembered tapes, and how they are brought up to date with the store. */
export class Tapes {
  readonly #backend: Backend;
  readonly #known: ByteCache<string, Tape>;

  constructor(backend: Backend, cacheBytes: number) {
    this.#backend = backend;
    this.#known = new ByteCache(cacheBytes);
  }

  /** Returns a tape as it was last seen, without any I/O; it may be stale. */
  get(number: number, lineage: number): Tape | undefined {
    return this.named(tapeName(lineage, number));
  }

  /** Returns the tape of that name as {@link get} does. */
  named(name: string): Tape | undefined {
    return this.#known.get(name);
  }

  /** Remembers a tape with its present weight, which grows with every row. */
  keep(tape: Tape): void {
    if (!this.#known.weigh(tape.name, tape, tape.bytes)) this.#set(tape);
  }

  #set(tape: Tape): void {
    tape.grown = () => void this.#known.weigh(tape.name, tape, tape.bytes);
    this.#known.set(tape.name, tape, tape.bytes);
  }

  forget(number: number, lineage: number): void {
    this.#known.delete(tapeName(lineage, number));
  }

  clear(): void {
    this.#known.clear();
  }

  /**
   * Returns the tape a fork builds on, from memory or read now. The part that a fork shows does not change,
   * so only a tape that was remembered from before the fork has to be read again.
   */
  async sourceOf(fork: Tape, origin: Origin): Promise<Tape> {
    const known = this.get(origin.tape, fork.lineage);
    if (known && known.meta.generation > origin.generation && known.meta.folds === fork.meta.folds) {
      fork.source = known;
      return known;
    }
    const tape = await this.refresh(origin.tape, fork.lineage);
    if (!tape) {
      throw new ThreadmarkError("CORRUPT", `Tape ${origin.tape}, which a fork builds on, is missing. Run verify().`, {
        thread: fork.meta.thread,
        frame: `${origin.tape}:meta`,
      });
    }
    fork.source = tape;
    return tape;
  }

  /**
   * Reads the changes of a tape since it was last seen, and the reads of `ahead`, in one round trip. Returns undefined
   * if there is no such tape.
   */
  async refresh(number: number, lineage: number, ahead?: Along): Promise<Tape | undefined> {
    const known = this.get(number, lineage);
    const from = known ? known.lastSeq + 1 : 0;
    const reads: Read[] = [
      { get: metaKey(lineage, number) },
      { scan: rangeOf({ lineage, number }, "tail", from) },
      ...(ahead?.reads(lineage, number, known) ?? []),
    ];
    const answers = await observedRead(this.#backend, reads);
    const [metaValue, tail] = answers as readonly [Value | undefined, readonly Found[]];
    ahead?.take(metaValue, answers.slice(2));
    if (metaValue === undefined) {
      this.forget(number, lineage);
      return undefined;
    }
    // Nothing more is awaited unless it has to be: every read of a thread comes by here.
    return this.#follow(number, lineage, from, metaValue, tail) ?? (await this.#readWhole(number, lineage));
  }

  /** Refreshes several tapes in one round trip. */
  async refreshAll(
    tapes: readonly { readonly tape: number; readonly lineage: number }[],
  ): Promise<(Tape | undefined)[]> {
    const from = tapes.map(({ tape, lineage }) => {
      const known = this.get(tape, lineage);
      return known ? known.lastSeq + 1 : 0;
    });
    const reads = tapes.flatMap(({ tape, lineage }, index): Read[] => [
      { get: metaKey(lineage, tape) },
      { scan: rangeOf({ lineage, number: tape }, "tail", from[index]) },
    ]);
    const answers = await observedRead(this.#backend, reads);
    const found: (Tape | undefined)[] = [];
    for (const [index, { tape, lineage }] of tapes.entries()) {
      const metaValue = answers[2 * index] as Value | undefined;
      const tail = answers[2 * index + 1] as readonly Found[];
      if (metaValue === undefined) {
        this.forget(tape, lineage);
        found.push(undefined);
        continue;
      }
      const followed = this.#follow(tape, lineage, from[index] as number, metaValue, tail);
      found.push(followed ?? (await this.#readWhole(tape, lineage)));
    }
    return found;
  }

  /**
   * Brings a remembered tape up to date with its meta record and its rows since `from`. Returns undefined if it has to be read
   * whole.
   */
  #follow(number: number, lineage: number, from: number, metaValue: Value, tail: readonly Found[]): Tape | undefined {
    // While the read was under way another call may have refreshed the same tape, or forgotten and found it again.
    const current = this.get(number, lineage);
    if (current && from <= current.lastSeq + 1 && current.follow(metaValue, tail)) return current;
    if (current || from > 0) return undefined;
    const tape = new Tape(number, lineage, metaValue);
    if (tape.meta.marks) return undefined;
    tape.addTail(tail);
    this.#set(tape);
    return tape;
  }

  /** Reads a tape with its tail and marks from one snapshot: records of different versions do not match. */
  async #readWhole(number: number, lineage: number): Promise<Tape | undefined> {
    const [metaValue, tail, marks] = (await observedRead(this.#backend, [
      { get: metaKey(lineage, number) },
      { scan: rangeOf({ lineage, number }, "tail") },
      { scan: rangeOf({ lineage, number }, "mark") },
    ])) as readonly [Value | undefined, readonly Found[], readonly Found[]];
    if (metaValue === undefined) {
      this.forget(number, lineage);
      return undefined;
    }
    const tape = this.get(number, lineage) ?? new Tape(number, lineage, metaValue);
    // Reads may overtake each other, and commits of this process overtake reads: a remembered tape never becomes older.
    const { version } = decodeMeta(metaValue);
    if (tape.meta.version > version) return tape;
    if (tape.metaValue === metaValue && tape.tail.length > 0) {
      const last = tape.lastSeq;
      tape.addTail(tail.filter((entry) => entry.item > last));
      return tape;
    }
    tape.adopt(metaValue);
    tape.tail = [];
    tape.damaged = [];
    tape.addTail(tail);
    tape.marks = decodeMarks(marks);
    this.#set(tape);
    return tape;
  }
}
