import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { FileState, FileSystem, Holder, OpenFile } from "../disk/file-system.ts";

/** What a claim's file says: who made it, and which file it is, since a copy of it says the same. */
interface Content extends Holder, Partial<Pick<FileState, "inode" | "device">> {
  /** Tells apart who shares a process: worker threads, and several versions of this library. */
  readonly instance?: string;
}

const instance = randomBytes(8).toString("hex");

/** The claims made here that count. Any other that names this instance was given up, though its file may still be there. */
const standing = new Set<string>();

/** A claim of somebody, as it was found. */
export interface Claim {
  readonly name: string;
  readonly holder: Holder;
}

/** A claim of our own: a file under a name that is never used twice. It stays open, so that no other gets its inode. */
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

  /** Makes a claim and publishes it in one step: nobody ever reads half of it. */
  static async publish(fileSystem: FileSystem, directory: string): Promise<OwnClaim> {
    const nonce = randomBytes(8).toString("hex");
    const temporary = join(directory, `lock-${nonce}.tmp`);
    const claim = new OwnClaim(fileSystem, directory, `lock-${nonce}.json`, await fileSystem.open(temporary, "create"));
    try {
      const { inode, device } = await claim.#file.stat();
      const content: Content = { ...(await fileSystem.holder()), instance, inode, device };
      await claim.#file.write(0, Buffer.from(`${JSON.stringify(content)}\n`));
      standing.add(claim.name);
      await fileSystem.rename(temporary, claim.path);
      claim.#inode = (await fileSystem.stat(claim.path))?.inode;
      return claim;
    } catch (error) {
      // Not the fault to report, if this fails too.
      await claim.withdraw().catch(() => undefined);
      throw error;
    }
  }

  /** Whether the file is still where it was published. */
  async isInPlace(): Promise<boolean> {
    const found = await this.#fileSystem.stat(this.path);
    return found !== undefined && found.inode === this.#inode;
  }

  /** From here on it does not count, even where its file cannot be removed. */
  async withdraw(): Promise<void> {
    standing.delete(this.name);
    try {
      // The directory may be under another name by now: there an empty claim is left, which does not count either.
      await this.#file.truncate(0);
    } finally {
      await this.#file.close();
      await this.#fileSystem.remove(this.path);
    }
  }
}

/** Who may hold the lock by the claim of this name; nobody when it is dead, undefined when it was withdrawn. */
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
    const isGivenUp = content.instance === instance && !standing.has(name);
    if (isGivenUp || isCopy(content, state, await fileSystem.holder())) return "nobody";
    return (await fileSystem.isAlive(content)) ? content : "nobody";
  } catch (error) {
    // A power cut took what was in it, or it was withdrawn where it could not be removed.
    if (error instanceof SyntaxError) return "nobody";
    throw error;
  } finally {
    await file.close();
  }
}

/**
 * Whether a claim was copied here, with the whole directory, from where it was made. Whoever made it keeps its file open,
 * so that under the same system, on the same device, no other inode can be that file's. Elsewhere it cannot be told.
 */
function isCopy({ host, boot, inode, device }: Content, state: FileState, here: Holder): boolean {
  if (host !== here.host || boot !== here.boot || inode === undefined || device === undefined) return false;
  return device === state.device && inode !== state.inode;
}
