import { backupStore } from "../engine/bundles/backup.ts";
import { restoreBackups } from "../engine/bundles/restore.ts";
import type { Lanes } from "../engine/commits/lanes.ts";
import type { EngineContext } from "../engine/memory/context.ts";
import { ThreadmarkError } from "../errors.ts";
import type { BackupResult, RestoreResult } from "../model/interface/results.ts";
import type { BackupOptions, BackupStream, WorkOptions } from "../model/interface/store-options.ts";
import { cryptography, fs, path } from "../platform/node-builtins.ts";

/** Characters that are written at once. */
const CHUNK = 256 * 1024;

type Write = (text: string) => Promise<void>;

/** Writes a backup into a file or a stream. The web build has `web/backup-file.ts` instead. */
export async function writeBackup(
  context: EngineContext,
  target: unknown,
  options: BackupOptions,
): Promise<BackupResult> {
  if (isStream(target)) return writeLines(context, options, intoStream(target));
  const file = pathOf(target, "The target of a backup");
  const part = `${file}.${cryptography().randomBytes(6).toString("hex")}.part`;
  const handle = await fs.promises.open(part, "wx", 0o600).catch((error: unknown) => {
    throw unwritable(file, error);
  });
  try {
    const result = await writeLines(context, options, async (text) => {
      await handle.writeFile(text).catch((error: unknown) => {
        throw unwritable(file, error);
      });
    });
    await handle.sync();
    await handle.close();
    await fs.promises.rename(part, file);
    await syncFolder(path.dirname(file));
    return result;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await fs.promises.rm(part, { force: true });
    throw error;
  }
}

/** Syncs a folder: a new name survives a power cut only then. */
async function syncFolder(folder: string): Promise<void> {
  // Windows cannot sync a directory and need not.
  if (process.platform === "win32") return;
  const handle = await fs.promises.open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Restores backups from files, in order. */
export async function restoreFiles(
  context: EngineContext,
  lanes: Lanes,
  sources: unknown,
  options: WorkOptions,
): Promise<RestoreResult> {
  const given = Array.isArray(sources) ? (sources as readonly unknown[]) : [sources];
  const files = given.map((source) => pathOf(source, "A backup to restore"));
  if (files.length === 0) throw new TypeError("restore takes at least one backup.");
  for (const file of files) {
    await fs.promises.access(file, fs.constants.R_OK).catch((cause: unknown) => {
      throw new ThreadmarkError("NOT_FOUND", `The backup ${JSON.stringify(file)} cannot be read. Check its path.`, {
        cause,
      });
    });
  }
  return restoreBackups(
    context,
    lanes,
    files.map((file) => () => fs.createReadStream(file)),
    options,
  );
}

async function writeLines(context: EngineContext, options: BackupOptions, write: Write): Promise<BackupResult> {
  const lines = backupStore(context, options);
  try {
    let held = "";
    for (;;) {
      const next = await lines.next();
      if (!next.done) held += next.value;
      if (next.done || held.length > CHUNK) {
        if (held !== "") await write(held);
        held = "";
      }
      if (next.done) return next.value;
    }
  } finally {
    // Gives the snapshot up where writing failed.
    await lines.return(undefined as never);
  }
}

function isStream(target: unknown): target is BackupStream {
  return typeof target === "object" && target !== null && typeof (target as { write?: unknown }).write === "function";
}

/** Returns a function that resolves when the stream has taken the text. The stream stays open. */
function intoStream(stream: BackupStream): Write {
  return (text) =>
    new Promise<void>((resolve, reject) => {
      stream.once("error", reject);
      stream.write(text, (error?: Error | null) => {
        stream.removeListener("error", reject);
        if (error) reject(error);
        else resolve();
      });
    });
}

function pathOf(source: unknown, what: string): string {
  if (source instanceof URL && source.protocol === "file:") return decodeURIComponent(source.pathname);
  if (typeof source === "string" && source !== "") return source;
  throw new TypeError(`${what} must be the path of a file.`);
}

function unwritable(file: string, cause: unknown): ThreadmarkError {
  const fault = cause instanceof Error ? cause.message : String(cause);
  return new ThreadmarkError(
    "BACKEND",
    `The backup ${JSON.stringify(file)} cannot be written: ${fault}. Free the place, or choose another.`,
    { committed: false, cause },
  );
}
