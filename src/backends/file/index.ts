import { resolve } from "node:path";
import type { Backend } from "../../backend.ts";
import { checkBackendOptions } from "../../model/validation/store/open.ts";
import { checkedMode } from "../shared/file-mode.ts";
import { FileBackend } from "./backend.ts";
import type { FileSystem } from "./disk/file-system.ts";
import { nodeFileSystemWith } from "./disk/node-file-system.ts";
import { backendFault } from "./faults.ts";

export type { FileState, FileSystem, Holder, OpenFile } from "./disk/file-system.ts";

/** Options of `file`. */
export interface FileOptions {
  /** `full` (the default): a commit survives a power cut. `normal`: it survives the end of the process. */
  readonly fsync?: "full" | "normal";
  /** Whether every change is refused with READ_ONLY. @default false */
  readonly readOnly?: boolean;
  /** The permissions of new files, as in `0o660`. Default `0o600`: for the owner only. */
  readonly mode?: number;
  /** Default: the disk of this machine. */
  readonly fileSystem?: FileSystem;
}

/**
 * Opens a store in a directory of JSON lines, which ordinary tools can read and copy. A single process writes at a time, any
 * number read. Nothing is created before the first commit.
 *
 * @example
 * const store = await open(await file("./threads", { fsync: "normal" }));
 */
export async function file(directory: string, options: FileOptions = {}): Promise<Backend> {
  if (typeof directory !== "string" || directory === "") {
    throw new TypeError("file: the directory must be a non-empty string");
  }
  checkBackendOptions(options, "file");
  const { fsync = "full", readOnly = false } = options;
  const mode = checkedMode(options.mode);
  const fileSystem = options.fileSystem ?? nodeFileSystemWith(mode);
  const path = resolve(directory);
  if ((await kindOf(fileSystem, path)) === "file") {
    const error = Object.assign(new Error(`${path} is not a directory`), { code: "ENOTDIR" });
    throw backendFault(`opening ${path}`, error, false);
  }
  return new FileBackend(fileSystem, path, fsync === "full", readOnly);
}

/**
 * Returns the kind of file at a path; undefined if there is none or it cannot be reached, which the first read or write
 * reports.
 */
async function kindOf(fileSystem: FileSystem, path: string): Promise<string | undefined> {
  try {
    return (await fileSystem.stat(path))?.kind;
  } catch {
    return undefined;
  }
}
