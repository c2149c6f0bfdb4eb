import type { Backend } from "../../backend.ts";
import { cryptography } from "../../platform/node-builtins.ts";
import { STORE_LINEAGE, tapesOf } from "../records/keys.ts";

/** The number that was drawn last in this process, by the bound of numbers. */
const drawn = new Map<number, number>();

/**
 * Returns a number for a new tape. The commit checks that it is new; if it was not, `again` asks for an unrelated one.
 * Tapes that one process makes have consecutive numbers, so that tapes written at the same time are neighbours in a
 * B-tree. With `thread`, the tape begins the thread's lineage, whose number may say where it lives.
 */
export function newTape(backend: Backend, again: boolean, thread?: string): number {
  const beyond = tapesOf(backend);
  for (let number = again ? undefined : drawn.get(beyond); ; ) {
    number = number === undefined ? cryptography().randomInt(1, beyond) : (number % (beyond - 1)) + 1;
    drawn.set(beyond, number);
    const tape = thread === undefined ? number : (backend.numberFor?.(thread, number) ?? number);
    if (tape !== STORE_LINEAGE) return tape;
  }
}

/** Returns a name that no other has: of this store among all that ever write to the same place, or of a lease. */
export function randomName(): string {
  return cryptography().randomBytes(6).toString("base64url");
}
