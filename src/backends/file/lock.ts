import { randomBytes, randomInt } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { heldBy } from "./faults.ts";
import type { FileSystem, Holder } from "./file-system.ts";

const lockName = /^lock-[0-9a-f]{16}\.json$/;
const unfinishedName = /^lock-[0-9a-f]{16}\.tmp$/;

/** How often a claim is made, or looked after, before the store counts as held by another. */
const rounds = 12;
const pause = { least: 5, most: 25 };

/** Claims of this process that count no more, though their files could not be removed. */
const withdrawn = new Set<string>();

interface Claim {
  readonly name: string;
  readonly holder: Holder;
}

/**
 * The right of one process to write. Each claim is a file of its own, under a name that is never used twice: whoever sees
 * no other live claim after having made its own holds the lock. Of two that claim at once, at least one sees the other, so
 * two never hold it; and a dead claim can be removed without fear of removing a live one that took its name.
 */
export class WriterLock {
  readonly #fileSystem: FileSystem;
  readonly #directory: string;
  #held: { readonly path: string; readonly inode: string } | undefined;

  constructor(fileSystem: FileSystem, directory: string) {
    this.#fileSystem = fileSystem;
    this.#directory = directory;
  }

  get isHeld(): boolean {
    return this.#held !== undefined;
  }

  /** Fails when the lock is not there any more: someone removed it, or the whole directory. */
  async check(): Promise<void> {
    if (this.#held === undefined) return;
    const { path, inode } = this.#held;
    if ((await this.#fileSystem.stat(path))?.inode === inode) return;
    this.#held = undefined;
    throw Object.assign(new Error(`${path} was removed while the store was open`), { code: "ENOENT" });
  }

  /** Takes the lock, or fails with BUSY naming who has it. */
  async take(): Promise<void> {
    let other: Claim | undefined;
    for (let round = 0; round < rounds; round++) {
      const name = await this.#claim();
      try {
        [other] = await this.#others(name);
        // Of several claims at once the first by name stays, and the others stand back: one of them gets through.
        for (; other !== undefined && name < other.name && round < rounds; round++) {
          await delay(randomInt(pause.least, pause.most));
          [other] = await this.#others(name);
        }
        if (other === undefined) {
          const path = join(this.#directory, name);
          const state = await this.#fileSystem.stat(path);
          if (state !== undefined) {
            this.#held = { path, inode: state.inode };
            return;
          }
        }
      } finally {
        if (this.#held === undefined) await this.#withdraw(join(this.#directory, name));
      }
      await delay(randomInt(pause.least, pause.most));
    }
    throw other === undefined ? new Error(`the claims in ${this.#directory} keep disappearing`) : this.#busy(other);
  }

  async release(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) await this.#withdraw(held.path);
  }

  async #withdraw(path: string): Promise<void> {
    withdrawn.add(path);
    await this.#fileSystem.remove(path);
    withdrawn.delete(path);
  }

  /** Whether a live process, other than through this object, may be writing. */
  async isHeldElsewhere(): Promise<boolean> {
    return (await this.#others(undefined)).length > 0;
  }

  /** Publishes a claim in one step: nobody ever reads half of it. */
  async #claim(): Promise<string> {
    const nonce = randomBytes(8).toString("hex");
    const temporary = join(this.#directory, `lock-${nonce}.tmp`);
    const name = `lock-${nonce}.json`;
    const file = await this.#fileSystem.open(temporary, "create");
    try {
      await file.write(0, Buffer.from(`${JSON.stringify(await this.#fileSystem.holder())}\n`));
    } finally {
      await file.close();
    }
    await this.#fileSystem.rename(temporary, join(this.#directory, name));
    return name;
  }

  /** All live claims but `own`, by name. Dead ones are removed on the way. */
  async #others(own: string | undefined): Promise<Claim[]> {
    const claims: Claim[] = [];
    for (const name of (await this.#fileSystem.list(this.#directory)) ?? []) {
      if (name === own || !lockName.test(name)) continue;
      const holder = await this.#holderOf(name);
      if (holder === undefined) continue;
      const path = join(this.#directory, name);
      const isLive = !withdrawn.has(path) && holder !== "nobody" && (await this.#fileSystem.isAlive(holder));
      if (isLive) claims.push({ name, holder });
      else if (own !== undefined) await this.#withdraw(path);
    }
    return claims.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Undefined when the claim was withdrawn; nobody when a power cut took what was in it. */
  async #holderOf(name: string): Promise<Holder | "nobody" | undefined> {
    let file: Awaited<ReturnType<FileSystem["open"]>>;
    try {
      file = await this.#fileSystem.open(join(this.#directory, name), "read");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
    try {
      const { size } = await file.stat();
      return JSON.parse((await file.read(0, size)).toString("utf8")) as Holder;
    } catch (error) {
      if (error instanceof SyntaxError) return "nobody";
      throw error;
    } finally {
      await file.close();
    }
  }

  #busy({ name, holder }: Claim): Error {
    return heldBy(join(this.#directory, name), holder);
  }
}

/** Whether a file is a claim that was never published: its process ended, or is about to publish it. */
export function isUnfinishedClaim(name: string): boolean {
  return unfinishedName.test(name);
}
