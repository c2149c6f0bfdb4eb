import { randomInt } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { FileSystem } from "../disk/file-system.ts";
import { heldBy, movedFiles } from "../faults.ts";
import type { Claim } from "./lock-claim.ts";
import { claimantOf, OwnClaim } from "./lock-claim.ts";

const lockName = /^lock-[0-9a-f]{16}\.json$/;
const unfinishedName = /^lock-[0-9a-f]{16}\.tmp$/;

/** How often a claim is made, or looked after, before the store counts as held by another. */
const rounds = 12;
const pause = { least: 5, most: 25 };

/**
 * The right of one process to write. Each claim is a file of its own, under a name that is never used twice: whoever sees
 * no other live claim after having made its own holds the lock. Of two that claim at once, at least one sees the other, so
 * two never hold it; and a dead claim can be removed without fear of removing a live one that took its name.
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

  /** Fails with MOVED when the lock is not there any more: someone removed it, or removed or moved the whole directory. */
  async check(): Promise<void> {
    const held = this.#held;
    if (held === undefined || (await held.isInPlace())) return;
    await this.release();
    throw movedFiles(held.path, false);
  }

  /** Takes the lock, or fails with BUSY naming who has it. */
  async take(): Promise<void> {
    let other: Claim | undefined;
    for (let round = 0; round < rounds; round++) {
      const claim = await OwnClaim.publish(this.#fileSystem, this.#directory);
      try {
        [other] = await this.#others(claim.name);
        // Of several claims at once the first by name stays, and the others stand back: one of them gets through.
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

  /** Whether a live process, other than through this object, may be writing. */
  async isHeldElsewhere(): Promise<boolean> {
    return (await this.#others(undefined)).length > 0;
  }

  /** All live claims but `own`, by name. Dead ones are removed on the way. */
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

/** Whether a file is a claim that was never published: its process ended, or is about to publish it. */
export function isUnfinishedClaim(name: string): boolean {
  return unfinishedName.test(name);
}
