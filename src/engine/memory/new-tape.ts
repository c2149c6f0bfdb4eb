import { cryptography } from "../../platform/node-builtins.ts";

const TAPES = 2 ** 31;
let lastTape = 0;

/**
 * A number for a new tape. That it is new is the commit's to check; if it was not, `again` asks for quite another. Tapes
 * that one process makes follow one another, so that those written to at the same time are neighbours: appending behind
 * all others is what a B-tree does best.
 */
export function newTape(again: boolean): number {
  lastTape = lastTape === 0 || again ? cryptography().randomInt(1, TAPES) : (lastTape % (TAPES - 1)) + 1;
  return lastTape;
}

/** A name for this store among all that ever write to the same place. */
export function randomWriter(): string {
  return cryptography().randomBytes(6).toString("base64url");
}
