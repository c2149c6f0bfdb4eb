import { basename, dirname } from "node:path";
import type { FileState, FileSystem, Holder, OpenFile } from "../../../../src/backends/file/index.ts";
import { below, type Random } from "./random.ts";
import { SimulatedFile } from "./simulated-file.ts";

/** An operation on a disk. A crash can come before or after each that changes something. */
export type Operation =
  | "open"
  | "create"
  | "stat"
  | "list"
  | "makeDirectory"
  | "rename"
  | "remove"
  | "syncDirectory"
  | "read"
  | "write"
  | "truncate"
  | "sync";

const changing: ReadonlySet<Operation> = new Set([
  "create",
  "makeDirectory",
  "rename",
  "remove",
  "syncDirectory",
  "write",
  "truncate",
  "sync",
]);

/** Something that was done to the names in a directory and is not on the medium for certain. */
type NameChange = (names: Map<string, SimulatedFile>) => void;

class Stopped extends Error {}

let inodes = 0;

/**
 * A disk in memory. Processes see each other's changes at once; a power cut leaves what was synced, and of the rest
 * whatever it likes. Names are files too: one that was created, renamed or removed is so for certain once its directory
 * was synced.
 */
export class SimulatedDisk {
  readonly random: Random;
  seen = new Map<string, SimulatedFile>();
  #synced = new Map<string, SimulatedFile>();
  #unsynced: NameChange[] = [];
  readonly directories = new Set<string>(["/"]);
  boot = 1;
  pid = 1;
  /** How many operations there were, and how many of them change something. */
  operations = 0;
  changes = 0;
  /** Stops the process before this change, counted from 1; a write may have been done in part. */
  stopBefore = Number.POSITIVE_INFINITY;
  /** Makes an operation fail, by returning the error's code. */
  failing: (operation: Operation, path: string, number: number) => string | undefined = () => undefined;
  #isStopped = false;

  constructor(random: Random) {
    this.random = random;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** The disk as the process that runs now sees it. Once another runs, nothing works through this any more. */
  process(): FileSystem {
    return new Process(this);
  }

  /** Ends the process at once, as with kill -9. Everything it wrote stays. */
  endProcess(): void {
    this.pid++;
    this.#isStopped = false;
    this.stopBefore = Number.POSITIVE_INFINITY;
  }

  /** The machine ends at once, and starts again. */
  cutPower(): void {
    const names = new Map(this.#synced);
    const chance = [0, 0.5, 1][below(this.random, 3)] as number;
    for (const change of this.#unsynced) if (this.random() < chance) change(names);
    for (const file of new Set([...names.values(), ...this.seen.values()])) file.cutPower(this.random);
    this.#synced = names;
    this.seen = new Map(names);
    this.#unsynced = [];
    this.boot++;
    this.endProcess();
  }

  /** The bytes of a file, as a program would see them. */
  contentOf(path: string): Buffer {
    const file = this.seen.get(path);
    if (file === undefined) throw failure("ENOENT", path);
    return file.read(0, file.size);
  }

  /** Puts other bytes in place of a file's, for good: damage, or somebody's editor. */
  overwrite(path: string, content: Buffer): void {
    const file = new SimulatedFile(`${++inodes}`);
    file.write(0, content);
    file.sync();
    this.rename((names) => names.set(path, file));
    this.syncNames();
  }

  rename(change: NameChange): void {
    change(this.seen);
    this.#unsynced.push(change);
  }

  syncNames(): void {
    this.#synced = new Map(this.seen);
    this.#unsynced = [];
  }

  /** Lets an operation begin, unless the process was stopped or the operation is to fail: `partly` is then all it does. */
  async operate(pid: number, operation: Operation, path: string, partly?: () => void): Promise<void> {
    await undefined;
    if (this.#isStopped || pid !== this.pid) throw new Stopped("the process has ended");
    this.operations++;
    if (changing.has(operation)) this.changes++;
    if (changing.has(operation) && this.changes >= this.stopBefore) {
      this.#isStopped = true;
      if (operation === "write") partly?.();
      throw new Stopped("the process ends here");
    }
    const code = this.failing(operation, path, this.operations);
    if (code === undefined) return;
    partly?.();
    throw failure(code, path);
  }
}

class Process implements FileSystem {
  readonly #disk: SimulatedDisk;
  readonly #pid: number;

  constructor(disk: SimulatedDisk) {
    this.#disk = disk;
    this.#pid = disk.pid;
  }

  async open(path: string, mode: "read" | "write" | "create"): Promise<OpenFile> {
    await this.#operate(mode === "create" ? "create" : "open", path);
    const present = this.#disk.seen.get(path);
    if (mode !== "create") {
      if (present === undefined) throw failure("ENOENT", path);
      return this.#handle(path, present, mode);
    }
    if (present !== undefined) throw failure("EEXIST", path);
    if (!this.#disk.directories.has(dirname(path))) throw failure("ENOENT", path);
    const file = new SimulatedFile(`${++inodes}`);
    this.#disk.rename((names) => names.set(path, file));
    return this.#handle(path, file, mode);
  }

  async stat(path: string): Promise<FileState | undefined> {
    await this.#operate("stat", path);
    if (this.#disk.directories.has(path)) return { kind: "directory", size: 0, inode: path, changed: "" };
    const file = this.#disk.seen.get(path);
    return file && stateOf(file);
  }

  async list(directory: string): Promise<readonly string[] | undefined> {
    await this.#operate("list", directory);
    const { seen, directories } = this.#disk;
    if (!directories.has(directory)) return undefined;
    const paths = [...seen.keys(), ...directories].filter((path) => dirname(path) === directory && path !== directory);
    return paths.map((path) => basename(path));
  }

  async makeDirectory(path: string): Promise<void> {
    await this.#operate("makeDirectory", path);
    this.#disk.directories.add(path);
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#operate("rename", from);
    const file = this.#disk.seen.get(from);
    if (file === undefined) throw failure("ENOENT", from);
    this.#disk.rename((names) => {
      names.delete(from);
      names.set(to, file);
    });
  }

  async remove(path: string): Promise<void> {
    await this.#operate("remove", path);
    this.#disk.rename((names) => names.delete(path));
  }

  async syncDirectory(path: string): Promise<void> {
    await this.#operate("syncDirectory", path);
    this.#disk.syncNames();
  }

  async holder(): Promise<Holder> {
    return { host: "simulated", boot: `${this.#disk.boot}`, pidSpace: "", pid: this.#pid, started: `${this.#pid}` };
  }

  async isAlive(holder: Holder): Promise<boolean> {
    return holder.boot === `${this.#disk.boot}` && holder.pid === this.#disk.pid;
  }

  #operate(operation: Operation, path: string, partly?: () => void): Promise<void> {
    return this.#disk.operate(this.#pid, operation, path, partly);
  }

  #handle(path: string, file: SimulatedFile, mode: "read" | "write" | "create"): OpenFile {
    const { random } = this.#disk;
    const operate = async (operation: Operation, partly?: () => void): Promise<void> => {
      if (mode === "read" && changing.has(operation)) throw failure("EBADF", path);
      await this.#operate(operation, path, partly);
    };
    return {
      stat: async () => {
        await operate("stat");
        return stateOf(file);
      },
      read: async (position, length) => {
        await operate("read");
        return file.read(position, length);
      },
      write: async (position, bytes) => {
        const part = bytes.subarray(0, below(random, bytes.length + 1));
        await operate("write", () => file.write(position, part));
        file.write(position, bytes);
      },
      truncate: async (size) => {
        await operate("truncate");
        file.truncate(size);
      },
      sync: async () => {
        await operate("sync", () => file.failSync(random));
        file.sync();
      },
      close: async () => undefined,
    };
  }
}

function stateOf(file: SimulatedFile): FileState {
  return { kind: "file", size: file.size, inode: file.inode, changed: `${file.changes}` };
}

function failure(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: simulated, ${path}`), { code });
}
