import { randomInt } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { FileSystem } from "../disk/file-system.ts";
import { heldBy, movedFiles } from "../faults.ts";
import type { Claim } from "./lock-claim.ts";
import { claimantOf, OwnClaim } from "./lock-claim.ts";

const lockName = /^lock-[0-9a-f]{16}\.json$/;
const unfinishedName = /^lock-[0-9a-f]{16}\.tmp$/;

/** The number of times a claim is made or checked before the store counts as held by another process. */
const rounds = 12;
const pause = { least: 5, most: 25 };

/**
 * The right of one process to write. Each claim is a file of its own under a name that is never used twice. A process
 * that sees no other live claim after publishing its own holds the lock. Of two simultaneous claims at least one
 * process sees the other, so two never hold it; and a dead claim can be removed safely, since no live claim ever has
 * its name.
 */
export class WriterLock {
  readonly #fileSystem: FileSystem;
  readonly #directory: string;
  #held: OwnClaim | undefined;

  constructor(fileSystem: FileSystem, directory: string) {
    this.#fileSystem = fileSystem;
    this.#directory = directory;
  }

  get isHeld(): boolean {
    return this.#held !== undefined;
  }

  /** Fails with MOVED when the lock's file is gone: the file, or the whole directory, was removed or moved. */
  async check(): Promise<void> {
    const held = this.#held;
    if (held === undefined || (await held.isInPlace())) return;
    await this.release();
    throw movedFiles(held.path, false);
  }

  /** Takes the lock, or fails with BUSY naming its holder. */
  async take(): Promise<void> {
    let other: Claim | undefined;
    for (let round = 0; round < rounds; round++) {
      const claim = await OwnClaim.publish(this.#fileSystem, this.#directory);
      try {
        [other] = await this.#others(claim.name);
        // Of several simultaneous claims the first by name stays and the others withdraw, so one of them succeeds.
        for (; other !== undefined && claim.name < other.name && round < rounds; round++) {
          await delay(randomInt(pause.least, pause.most));
          [other] = await this.#others(claim.name);
        }
        if (other === undefined && (await claim.isInPlace())) {
          this.#held = claim;
          return;
        }
      } finally {
        if (this.#held === undefined) await claim.withdraw();
      }
      await delay(randomInt(pause.least, pause.most));
    }
    throw other === undefined ? new Error(`the claims in ${this.#directory} keep disappearing`) : this.#busy(other);
  }

  async release(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    await held?.withdraw();
  }

  /** Returns whether a live process, or another object of this process, may be writing. */
  async isHeldElsewhere(): Promise<boolean> {
    return (await this.#others(undefined)).length > 0;
  }

  /** Returns all live claims but `own`, ordered by name, and removes dead ones. */
  async #others(own: string | undefined): Promise<Claim[]> {
    const claims: Claim[] = [];
    for (const name of (await this.#fileSystem.list(this.#directory)) ?? []) {
      if (name === own || !lockName.test(name)) continue;
      const holder = await claimantOf(this.#fileSystem, this.#directory, name);
      if (holder === undefined) continue;
      if (holder !== "nobody") claims.push({ name, holder });
      else if (own !== undefined) await this.#fileSystem.remove(join(this.#directory, name));
    }
    return claims.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #busy({ name, holder }: Claim): Error {
    return heldBy(join(this.#directory, name), holder);
  }
}

/** Returns whether a file is an unpublished claim: its process ended, or is about to publish it. */
export function isUnfinishedClaim(name: string): boolean {
  return unfinishedName.test(name);
}
