/**
 * All that the file backend asks of a disk. Narrow, so that a test can put a simulated disk in its place: one that loses,
 * tears and reorders whatever was not synced, and fails when told to.
 *
 * Failures reject with an error that carries a `code`, as those of Node do (`ENOSPC`, `EACCES`, …). No call follows a
 * symbolic link at the end of its path.
 */
export interface FileSystem {
  /**
   * `read` and `write` open what exists (`ENOENT` if nothing does); `create` makes a new file (`EEXIST` if one does), with
   * `permissions` as in `0o640`, or for its owner only.
   */
  open(path: string, mode: "read" | "write" | "create", permissions?: number): Promise<OpenFile>;
  /** Undefined when there is nothing at `path`. */
  stat(path: string): Promise<FileState | undefined>;
  /** The names in a directory; undefined when there is none. */
  list(directory: string): Promise<readonly string[] | undefined>;
  /** Makes one directory, for its owner only unless told otherwise, and makes its name durable. One that exists is fine. */
  makeDirectory(path: string, permissions?: number): Promise<void>;
  /** Takes the place of what is at `to`, in one step. */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file; nothing to remove is fine. */
  remove(path: string): Promise<void>;
  /** Makes the names in a directory durable: files that were created, renamed or removed. */
  syncDirectory(path: string): Promise<void>;
  /** Who takes locks through this interface. */
  holder(): Promise<Holder>;
  /** Whether a holder still runs. When that cannot be told, it does. */
  isAlive(holder: Holder): Promise<boolean>;
}

export interface OpenFile {
  stat(): Promise<FileState>;
  /**
   * The bytes from `position` on: fewer than `length` only at the end of the file. They may be put into `room`, if that is
   * given and large enough, and the result be a part of it.
   */
  read(position: number, length: number, room?: Buffer): Promise<Buffer>;
  /** Writes all of `bytes` at `position`. */
  write(position: number, bytes: Uint8Array): Promise<void>;
  truncate(size: number): Promise<void>;
  /** Returns when the file's bytes and its size are on the medium. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface FileState {
  readonly kind: "file" | "directory" | "link" | "other";
  readonly size: number;
  /** Who may do what with it, as in `0o640`; undefined where there is no such thing. */
  readonly permissions?: number | undefined;
  /** Two files that exist at the same time differ in it. */
  readonly inode: string;
  /** The file system it is on, if there a file keeps its inode as long as it is open, for all who see it on this machine. */
  readonly device?: string | undefined;
  /** Differs when the file was changed in between, as far as the clock of the file system can tell. */
  readonly changed: string;
}

/** A process, told apart from every other that ever had its number. */
export interface Holder {
  readonly host: string;
  /** Differs after every start of the machine. */
  readonly boot: string;
  /** The space in which `pid` counts: containers have their own. */
  readonly pidSpace: string;
  readonly pid: number;
  /** When the process started, in the words of the system: a reused pid starts at another time. */
  readonly started: string;
}
