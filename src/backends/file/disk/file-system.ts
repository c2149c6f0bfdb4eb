/**
 * The operations that the file backend needs of a disk. The interface is narrow so that a test can use a simulated
 * disk, which loses, tears and reorders bytes that were not synced and fails on demand.
 *
 * Failures reject with an error that has a `code` like Node's (`ENOSPC`, `EACCES`, …). No call follows a symbolic link
 * at the end of its path.
 */
export interface FileSystem {
  /**
   * Opens a file. `read` and `write` need an existing file (else `ENOENT`), `create` makes a new one (`EEXIST` if it
   * exists) with `permissions` such as `0o640`; default: for its owner only.
   */
  open(path: string, mode: "read" | "write" | "create", permissions?: number): Promise<OpenFile>;
  /** Resolves to undefined when there is nothing at `path`. */
  stat(path: string): Promise<FileState | undefined>;
  /** Lists the names in a directory; undefined when there is none. */
  list(directory: string): Promise<readonly string[] | undefined>;
  /** Makes one directory and makes its name durable; default: for its owner only. An existing directory is fine. */
  makeDirectory(path: string, permissions?: number): Promise<void>;
  /** Replaces the file at `to` atomically. */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file; a missing file is fine. */
  remove(path: string): Promise<void>;
  /** Makes the names in a directory durable: of files that were created, renamed or removed. */
  syncDirectory(path: string): Promise<void>;
  /**
   * Calls back when files in a directory may have changed, until the returned function is called. Undefined where that is
   * not told, as for a directory that does not exist.
   */
  watch?(directory: string, callback: () => void): (() => void) | undefined;
  /** Identifies the process that takes locks through this interface. */
  holder(): Promise<Holder>;
  /** Returns whether a holder still runs; true when that is unknown. */
  isAlive(holder: Holder): Promise<boolean>;
}

/** A file that is open. */
export interface OpenFile {
  stat(): Promise<FileState>;
  /**
   * Reads bytes from `position` on: fewer than `length` only at the end of the file. The result may be a part of
   * `room`, if `room` is large enough.
   */
  read(position: number, length: number, room?: Buffer): Promise<Buffer>;
  write(position: number, bytes: Uint8Array): Promise<void>;
  truncate(size: number): Promise<void>;
  /** Resolves when the file's bytes and its size are on the medium. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The facts about a file that the file system has. */
export interface FileState {
  readonly kind: "file" | "directory" | "link" | "other";
  readonly size: number;
  /** The file's permissions, such as `0o640`; undefined on systems without them. */
  readonly permissions?: number | undefined;
  /** Identifies the file among all that exist at the same time. */
  readonly inode: string;
  /** The file system, where an open file keeps its inode for every process of this machine; undefined elsewhere. */
  readonly device?: string | undefined;
  /** Differs after a change of the file, as far as the clock of the file system can tell. */
  readonly changed: string;
}

/** Identifies a process among all that ever had its pid. */
export interface Holder {
  readonly host: string;
  /** Differs after every start of the machine. */
  readonly boot: string;
  /** The namespace of `pid`: each container has its own. */
  readonly pidSpace: string;
  readonly pid: number;
  /** When the process started, as the system writes it: a reused pid has another start. */
  readonly started: string;
}
