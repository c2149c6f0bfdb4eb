import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { FileState, FileSystem, Holder, OpenFile } from "../disk/file-system.ts";

/** The content of a claim's file: its process, and the file's own identity, by which a copy is recognised. */
interface Content extends Holder, Partial<Pick<FileState, "inode" | "device">> {
  /** Tells apart the users of one process: worker threads, and several versions of this library. */
  readonly instance?: string;
}

const instance = randomBytes(8).toString("hex");

/** The valid claims made here. Any other claim of this instance was withdrawn, even if its file still exists. */
const validClaims = new Set<string>();

/** A claim found in the directory. */
export interface Claim {
  readonly name: string;
  readonly holder: Holder;
}

/**
 * A claim made here: a file under a name that is never used twice. The file stays open, so that no other file gets its
 * inode.
 */
export class OwnClaim {
  readonly name: string;
  readonly path: string;
  readonly #fileSystem: FileSystem;
  readonly #file: OpenFile;
  #inode: string | undefined;

  private constructor(fileSystem: FileSystem, directory: string, name: string, file: OpenFile) {
    this.#fileSystem = fileSystem;
    this.name = name;
    this.path = join(directory, name);
    this.#file = file;
  }

  /** Makes a claim and publishes it atomically, so that no process reads half of it. */
  static async publish(fileSystem: FileSystem, directory: string): Promise<OwnClaim> {
    const nonce = randomBytes(8).toString("hex");
    const temporary = join(directory, `lock-${nonce}.tmp`);
    const claim = new OwnClaim(fileSystem, directory, `lock-${nonce}.json`, await fileSystem.open(temporary, "create"));
    try {
      const { inode, device } = await claim.#file.stat();
      const content: Content = { ...(await fileSystem.holder()), instance, inode, device };
      await claim.#file.write(0, Buffer.from(`${JSON.stringify(content)}\n`));
      validClaims.add(claim.name);
      await fileSystem.rename(temporary, claim.path);
      claim.#inode = (await fileSystem.stat(claim.path))?.inode;
      return claim;
    } catch (error) {
      // The error to report is the first one.
      await claim.withdraw().catch(() => undefined);
      throw error;
    }
  }

  /** Returns whether the file is still where it was published. */
  async isInPlace(): Promise<boolean> {
    const found = await this.#fileSystem.stat(this.path);
    return found !== undefined && found.inode === this.#inode;
  }

  /** Withdraws the claim: it no longer counts, even if its file cannot be removed. */
  async withdraw(): Promise<void> {
    validClaims.delete(this.name);
    try {
      // If the directory was renamed, an empty claim stays behind there, and an empty claim does not count.
      await this.#file.truncate(0);
    } finally {
      await this.#file.close();
      await this.#fileSystem.remove(this.path);
    }
  }
}

/**
 * Returns the process that may hold the lock by the claim of this name; "nobody" when that process is dead, undefined
 * when the claim was withdrawn.
 */
export async function claimantOf(
  fileSystem: FileSystem,
  directory: string,
  name: string,
): Promise<Holder | "nobody" | undefined> {
  let file: OpenFile;
  try {
    file = await fileSystem.open(join(directory, name), "read");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const state = await file.stat();
    const content = JSON.parse((await file.read(0, state.size)).toString("utf8")) as Content;
    const isGivenUp = content.instance === instance && !validClaims.has(name);
    if (isGivenUp || isCopy(content, state, await fileSystem.holder())) return "nobody";
    return (await fileSystem.isAlive(content)) ? content : "nobody";
  } catch (error) {
    // A power cut lost the content, or the claim was withdrawn where its file could not be removed.
    if (error instanceof SyntaxError) return "nobody";
    throw error;
  } finally {
    await file.close();
  }
}

/**
 * Returns whether a claim was copied here together with the whole directory. A claim's process keeps the file open, so
 * on the same device of the same running system no other file can have its inode. Anywhere else this is unknown, and
 * the claim counts.
 */
function isCopy({ host, boot, inode, device }: Content, state: FileState, here: Holder): boolean {
  if (host !== here.host || boot !== here.boot || inode === undefined || device === undefined) return false;
  return device === state.device && inode !== state.inode;
}
