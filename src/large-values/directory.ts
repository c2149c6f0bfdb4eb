import type { StoredObject, ValueDriver } from "../model/interface/store-options.ts";
import { checkOptions } from "../model/validation/checks.ts";

/** Names of objects as a store makes them; everything else in the directory is left alone. */
const NAME = /^[\w-]{1,200}$/;

/** A file of this ending is being written, or was when its process ended. */
const UNFINISHED = ".part";

/**
 * Returns a driver that keeps large values as files of a directory, which is made at the first one. The directory must be
 * for one store only.
 *
 * @example
 * const store = await open("sqlite:agent.db", { largeValues: { driver: directory("./values") } });
 */
export function directory(path: string, options: { readonly mode?: number } = {}): ValueDriver {
  checkOptions(options, ["mode"], "directory");
  const { mode = 0o600 } = options;
  if (typeof path !== "string" || path === "") throw new TypeError("directory takes the path of a directory.");
  return new DirectoryDriver(path, mode);
}

class DirectoryDriver implements ValueDriver {
  readonly #path: string;
  readonly #mode: number;
  #made = false;

  constructor(path: string, mode: number) {
    this.#path = path;
    this.#mode = mode;
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    const { mkdir, open, rename } = await import("node:fs/promises");
    const file = this.#file(name);
    // A user who may read the files must be able to enter their directory.
    if (!this.#made) await mkdir(this.#path, { recursive: true, mode: this.#mode | ((this.#mode & 0o444) >> 2) });
    this.#made = true;
    const handle = await open(`${file}${UNFINISHED}`, "wx", this.#mode);
    try {
      await handle.writeFile(bytes);
      // The file must be on the medium before its name is: a commit is about to count on both.
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(`${file}${UNFINISHED}`, file);
    await this.#syncDirectory();
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    const { readFile } = await import("node:fs/promises");
    return readFile(this.#file(name)).catch(ifAbsent);
  }

  async delete(name: string): Promise<void> {
    const { unlink } = await import("node:fs/promises");
    await unlink(this.#file(name)).catch(ifAbsent);
    await unlink(`${this.#file(name)}${UNFINISHED}`).catch(ifAbsent);
  }

  async *list(): AsyncGenerator<StoredObject> {
    const { opendir, stat } = await import("node:fs/promises");
    const entries = await opendir(this.#path).catch(ifAbsent);
    if (!entries) return;
    for await (const entry of entries) {
      const name = entry.name.endsWith(UNFINISHED) ? entry.name.slice(0, -UNFINISHED.length) : entry.name;
      if (!entry.isFile() || !NAME.test(name)) continue;
      const found = await stat(`${this.#path}/${entry.name}`).catch(ifAbsent);
      if (found) yield { name, at: found.mtimeMs };
    }
  }

  #file(name: string): string {
    if (!NAME.test(name)) throw new TypeError(`${JSON.stringify(name)} is no name of a large value.`);
    return `${this.#path}/${name}`;
  }

  /** Makes a new name durable. Windows has no way to do so for a directory, and needs none. */
  async #syncDirectory(): Promise<void> {
    if (process.platform === "win32") return;
    const { open } = await import("node:fs/promises");
    const handle = await open(this.#path, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}

/** Returns undefined where there is no such file, and throws any other error. */
function ifAbsent(error: unknown): undefined {
  if ((error as { readonly code?: unknown }).code === "ENOENT") return undefined;
  throw error;
}
