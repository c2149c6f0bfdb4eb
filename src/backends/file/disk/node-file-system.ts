import { constants, lstatSync, watch } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { chmod, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { directoryMode, ownerOnly } from "../../shared/file-mode.ts";
import { mayRun, thisProcess } from "../lock/process-identity.ts";
import type { FileState, FileSystem, Holder, OpenFile } from "./file-system.ts";

// Windows lacks the flag; there only `stat` detects a link.
const noFollow = constants.O_NOFOLLOW ?? 0;
const flags = {
  read: constants.O_RDONLY | noFollow,
  write: constants.O_RDWR | noFollow,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | noFollow,
} as const;

/** The disk of this machine, through Node. New files and directories are for their owner only. */
export const nodeFileSystem: FileSystem = {
  async open(path: string, mode: "read" | "write" | "create", permissions = ownerOnly): Promise<OpenFile> {
    const handle = await open(path, flags[mode], ownerOnly);
    try {
      // The process's umask may have removed bits of `permissions`.
      if (mode === "create" && permissions !== ownerOnly) await handle.chmod(permissions);
    } catch (error) {
      await handle.close();
      throw error;
    }
    return new NodeFile(handle);
  },

  async stat(path: string): Promise<FileState | undefined> {
    try {
      // Synchronous, since every commit calls it: `lstat` takes microseconds, a worker thread's round trip ten times as
      // long.
      return stateOf(lstatSync(path, { bigint: true }));
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  },

  async list(directory: string): Promise<readonly string[] | undefined> {
    try {
      return await readdir(directory);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  },

  async makeDirectory(path: string, permissions = directoryMode(ownerOnly)): Promise<void> {
    try {
      await mkdir(path, directoryMode(ownerOnly));
      if (permissions !== directoryMode(ownerOnly)) await chmod(path, permissions);
    } catch (error) {
      if (codeOf(error) === "EEXIST" && (await stat(path)).isDirectory()) return;
      throw error;
    }
    await nodeFileSystem.syncDirectory(dirname(path));
  },

  rename,

  async remove(path: string): Promise<void> {
    await rm(path, { force: true });
  },

  async syncDirectory(path: string): Promise<void> {
    // Windows cannot sync a directory and need not.
    if (process.platform === "win32") return;
    const directory = await open(path, constants.O_RDONLY);
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  },

  watch(directory: string, callback: () => void): (() => void) | undefined {
    try {
      const watcher = watch(directory, callback);
      // As when the directory is removed: the next look finds out.
      watcher.on("error", callback);
      return () => watcher.close();
    } catch {
      return undefined;
    }
  },

  holder: thisProcess,

  isAlive(holder: Holder): Promise<boolean> {
    return mayRun(holder);
  },
};

/** Returns the disk of this machine with other default permissions for new files and directories. */
export function nodeFileSystemWith(mode: number): FileSystem {
  return {
    ...nodeFileSystem,
    open: (path, how, permissions = mode) => nodeFileSystem.open(path, how, permissions),
    makeDirectory: (path, permissions = directoryMode(mode)) => nodeFileSystem.makeDirectory(path, permissions),
  };
}

class NodeFile implements OpenFile {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async stat(): Promise<FileState> {
    return stateOf(await this.#handle.stat({ bigint: true }));
  }

  async read(position: number, length: number, room?: Buffer): Promise<Buffer> {
    const buffer = room !== undefined && room.length >= length ? room.subarray(0, length) : Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await this.#handle.read(buffer, filled, length - filled, position + filled);
      if (bytesRead === 0) return buffer.subarray(0, filled);
      filled += bytesRead;
    }
    return buffer;
  }

  async write(position: number, bytes: Uint8Array): Promise<void> {
    let written = 0;
    while (written < bytes.length) {
      const result = await this.#handle.write(bytes, written, bytes.length - written, position + written);
      written += result.bytesWritten;
    }
  }

  truncate(size: number): Promise<void> {
    return this.#handle.truncate(size);
  }

  sync(): Promise<void> {
    // Syncs the bytes and the size, but not times and modes.
    return this.#handle.datasync();
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

interface BigStats {
  readonly size: bigint;
  readonly mode: bigint;
  readonly dev: bigint;
  readonly ino: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

function stateOf(stats: BigStats): FileState {
  return {
    kind: stats.isFile() ? "file" : stats.isDirectory() ? "directory" : stats.isSymbolicLink() ? "link" : "other",
    size: Number(stats.size),
    permissions: process.platform === "win32" ? undefined : Number(stats.mode) & 0o777,
    inode: `${stats.dev}:${stats.ino}`,
    // On a network share Windows may give another number at each call.
    device: process.platform === "win32" ? undefined : `${stats.dev}`,
    changed: `${stats.mtimeNs}:${stats.ctimeNs}`,
  };
}

function codeOf(error: unknown): unknown {
  return (error as NodeJS.ErrnoException).code;
}
