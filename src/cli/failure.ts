import { countText } from "../display/quantities.ts";
import { type ErrorCode, ThreadmarkError } from "../errors.ts";

/** The exit codes. Part of the interface; docs/reference/cli.md lists them. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  faulty: 5,
  declined: 6,
  interrupted: 130,
} as const;

/** A failed command: its message and exit code. */
export class CommandFailure extends Error {
  readonly exitCode: number;
  /** The code for programs, like that of an error. */
  readonly code: string;

  constructor(exitCode: number, code: string, message: string) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
  }
}

export function usage(message: string): CommandFailure {
  return new CommandFailure(exitCodes.usage, "USAGE", message);
}

/** Fails if threads were passed over because they are damaged. The failure names the first few. */
export function failIfDamaged(threads: readonly string[]): void {
  if (threads.length === 0) return;
  const named = threads.slice(0, 5).map((id) => JSON.stringify(id));
  if (threads.length > named.length) named.push("…");
  const next = `\`verify\` lists every fault; restore ${threads.length === 1 ? "it" : "them"} from a backup.`;
  const message = `Passed over ${countText(threads.length, "damaged thread")}: ${named.join(", ")}. ${next}`;
  throw new CommandFailure(exitCodes.faulty, "CORRUPT", message);
}

const exitCodeOf: Partial<Record<ErrorCode, number>> = {
  NOT_FOUND: exitCodes.notFound,
  CONFLICT: exitCodes.conflict,
  BUSY: exitCodes.conflict,
  FENCED: exitCodes.conflict,
};

/**
 * Runs work that goes on past damaged threads and then throws an error that names them. Returns their ids: the command tells
 * what was done, and then fails with {@link failIfDamaged}.
 */
export async function damagedThreads(work: Promise<unknown>): Promise<readonly string[]> {
  try {
    await work;
    return [];
  } catch (error) {
    if (ThreadmarkError.is(error, "CORRUPT") && error.threads !== undefined) return error.threads;
    throw error;
  }
}

/** Returns any error as a failure, with its code, message and exit code. */
export function failureOf(error: unknown): CommandFailure {
  if (error instanceof CommandFailure) return error;
  if (error instanceof ThreadmarkError) {
    const passedOver = error.threads === undefined ? exitCodes.failed : exitCodes.faulty;
    return new CommandFailure(exitCodeOf[error.code] ?? passedOver, error.code, error.message);
  }
  if (error instanceof TypeError) return new CommandFailure(exitCodes.usage, "USAGE", error.message);
  return new CommandFailure(exitCodes.failed, "FAILED", error instanceof Error ? error.message : String(error));
}

const writeFaults: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full. Make room and try again",
  EDQUOT: "the disk quota is used up. Make room and try again",
  EFBIG: "the file would be larger than the system allows",
  EACCES: "permission was denied. Choose another place, or ask who owns it",
  EROFS: "the file system is read-only. Choose another place",
  ENOENT: "its directory does not exist. Make it first",
  EISDIR: "it is a directory. Choose another name",
};

/** Returns a failure to write output as an error with the next step. Other errors are returned unchanged. */
export function unwritable(what: string, error: unknown, standing: string): unknown {
  const fault = writeFaults[(error as NodeJS.ErrnoException | undefined)?.code ?? ""];
  if (fault === undefined || error instanceof ThreadmarkError) return error;
  return new CommandFailure(exitCodes.failed, "FAILED", `${what} could not be written: ${fault}. ${standing}`);
}
