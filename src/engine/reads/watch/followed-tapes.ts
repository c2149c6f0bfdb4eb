import { RecentMap } from "../../../platform/recent-map.ts";
import { FOLLOWED } from "../../records/store-wide/log.ts";
import type { FollowedSeq } from "./cursor.ts";
import { type Followed, nameOf } from "./followed-rows.ts";

/** Seqs of threads that are no longer followed are remembered for this many threads. */
const REMEMBERED = 10_000;

/** The tapes of active threads, by name, with the last seq of each that a watch has told. */
export class FollowedTapes {
  readonly #followed = new Map<string, Followed>();
  readonly #remembered = new RecentMap<string, number>(REMEMBERED);

  [Symbol.iterator](): IterableIterator<[name: string, tape: Followed]> {
    return this.#followed.entries();
  }

  get(name: string): Followed | undefined {
    return this.#followed.get(name);
  }

  delete(name: string): void {
    this.#followed.delete(name);
  }

  /** Follows a tape for a while, from `told` on. Returns false if it was followed already. */
  follow(lineage: number, tape: number, told: number): boolean {
    const name = nameOf({ lineage, tape });
    const until = performance.now() + FOLLOWED;
    const known = this.#followed.get(name);
    if (known) {
      known.until = until;
      return false;
    }
    // A row whose commit took long may have come after the thread was last followed.
    this.#followed.set(name, { lineage, tape, told: this.#remembered.get(name) ?? told, until });
    this.#remembered.delete(name);
    return true;
  }

  /** Stops following a quiet tape, and remembers what was told of it. */
  leave(name: string): void {
    const told = this.#followed.get(name)?.told;
    this.#followed.delete(name);
    if (told !== undefined) this.#remembered.set(name, told);
  }

  /** Returns what was told of each tape, as a cursor has it. */
  seqs(): readonly FollowedSeq[] {
    return [...this.#followed.values()].map(({ lineage, tape, told }) => [lineage, tape, told]);
  }
}
