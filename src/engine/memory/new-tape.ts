import { cryptography } from "../../platform/node-builtins.ts";
import { STORE_LINEAGE } from "../records/keys.ts";

/** Numbers of tapes are below that of the store's own lineage. */
const TAPES = STORE_LINEAGE;
let lastTape = 0;

/**
 * Returns a number for a new tape. The commit checks that it is new; if it was not, `again` asks for an unrelated one.
 * Tapes that one process makes have consecutive numbers, so that tapes written at the same time are neighbours in a
 * B-tree.
 */
export function newTape(again: boolean): number {
  lastTape = lastTape === 0 || again ? cryptography().randomInt(1, TAPES) : (lastTape % (TAPES - 1)) + 1;
  return lastTape;
}

/** Returns a name that no other has: of this store among all that ever write to the same place, or of a lease. */
export function randomName(): string {
  return cryptography().randomBytes(6).toString("base64url");
}
