import { fs, path as paths } from "../../platform/node-builtins.ts";

/** Milliseconds between two looks where the system does not tell that the files are written, and where it does. */
const pollMilliseconds = 20;
const restMilliseconds = 250;

/**
 * Milliseconds until each of the looks that follow a write. Processes write to the log before a commit shows, and with
 * `fsync: "full"` the disk comes between.
 */
const afterWrite: readonly number[] = [1, 2, 4, 8, ...new Array<number>(12).fill(pollMilliseconds)];

/**
 * Calls `tell` when another connection may have committed, until the returned function is called. `version` returns a number
 * that differs after such a commit, or undefined where that cannot be told. Looking takes microseconds, but not none: the
 * system says when to look. As long as it was found not to, looks follow each other quickly.
 */
export function hearCommits(file: string, version: () => number | undefined, tell: () => void): () => void {
  let seen = version();
  let looks = afterWrite.length;
  let delay = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopWatching = watchWrites(file, onWrite);
  let isToldOfWrites = stopWatching !== undefined;

  function look(): void {
    const now = version();
    if (now !== undefined && now === seen) return;
    seen = now;
    if (looks > afterWrite.length) isToldOfWrites = false;
    tell();
  }

  function schedule(): void {
    delay = afterWrite[looks] ?? (isToldOfWrites ? restMilliseconds : pollMilliseconds);
    looks += 1;
    clearTimeout(timer);
    timer = setTimeout(onTime, delay);
  }

  function onTime(): void {
    // A directory that did not exist may be there now.
    stopWatching ??= watchWrites(file, onWrite);
    look();
    schedule();
  }

  function onWrite(): void {
    const isLookedForSoon = delay === afterWrite[0];
    looks = 0;
    isToldOfWrites = true;
    if (isLookedForSoon) return;
    look();
    schedule();
  }

  schedule();
  return () => {
    clearTimeout(timer);
    stopWatching?.();
  };
}

/** Calls back when the database or a file beside it may have been written. Returns undefined where the system cannot tell. */
function watchWrites(file: string, onWrite: () => void): (() => void) | undefined {
  const name = paths.basename(file);
  try {
    const watcher = fs.watch(paths.dirname(file), (_, changed) => {
      if (changed === null || changed.startsWith(name)) onWrite();
    });
    // As when the directory is removed: the next look finds out.
    watcher.on("error", onWrite);
    return () => watcher.close();
  } catch {
    return undefined;
  }
}
