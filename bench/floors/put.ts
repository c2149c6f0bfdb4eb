import { crc32 } from "node:zlib";
import { createValueCodec } from "../../src/codec/values/value.ts";
import type { Talk } from "../workloads/prepared-conversation.ts";
import { GuardedTable } from "./guarded-table.ts";

/** The steps that no put can do without, each measured with all steps before it. */
export const putSteps = [
  "the record in the place of its change, and the check that nobody else moved the head, in one statement",
  "its JSON and CRC-32",
  "the walk that refuses what cannot be stored, and the copy",
  "the list in memory that the change is added to",
  "a promise, and a turn in which other threads may join the commit",
] as const;

/** Puts by hand, for one thread that nobody else uses: no branches, no leases, no packs, nothing that could be asked for. */
export class LeanPuts {
  readonly #steps: number;
  readonly #table: GuardedTable;
  readonly #codec = createValueCodec();
  readonly #list: unknown[] = [];
  #seq = 0;

  /** Does the first so many of {@link putSteps}. */
  constructor(file: string, steps: number) {
    this.#steps = steps;
    this.#table = new GuardedTable(file);
  }

  put(talk: Talk): unknown {
    if (this.#steps < 5) return this.#put(talk);
    return new Promise((resolve) => {
      void Promise.resolve().then(() => resolve(this.#put(talk)));
    });
  }

  #put({ ready: { update, changed } }: Talk): number {
    this.#seq += 1;
    const change = this.#steps < 3 ? update : (this.#codec.encode(update, "update").tree as typeof update);
    const value =
      this.#steps < 2
        ? `1j00000000${recordOf(this.#seq, changed)}`
        : wrapped(recordOf(this.#seq, JSON.stringify(change)));
    this.#table.insert(this.#seq, value);
    if (this.#steps >= 4) this.#list.push(...(change.append?.["messages"] ?? []));
    return this.#seq;
  }

  close(): void {
    this.#table.close();
  }
}

/** A record with its CRC-32. */
export function wrapped(record: string): string {
  return `1j${crc32(record).toString(16).padStart(8, "0")}${record}`;
}

/** Returns the record that stores a checkpoint. */
export function recordOf(seq: number, change: string): string {
  const now = Date.now();
  const id = `${now.toString(16).padStart(12, "0")}-7000-8fae-${seq.toString(16).padStart(12, "0")}`;
  const fields = `"id":"${id}","step":${seq},"createdAt":${now},"parent":${seq - 1},"node":"act","pending":1`;
  return `{${fields},"count":${seq},"change":${change}}`;
}
