import type { FileSystem } from "../disk/file-system.ts";

/** Milliseconds between two calls where the file system does not report changes. */
const pollMilliseconds = 25;

/** Milliseconds between two calls where it does: some file systems tell late, or not of other machines. */
const restMilliseconds = 1000;

/** Calls back when another process may have written to the journals, until the returned function is called. */
export function hearJournals(fileSystem: FileSystem, directory: string, tell: () => void): () => void {
  let watching: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    // A directory that did not exist may be there now.
    watching ??= fileSystem.watch?.(directory, tell);
    timer = setTimeout(look, watching ? restMilliseconds : pollMilliseconds);
    tell();
  };
  watching = fileSystem.watch?.(directory, tell);
  timer = setTimeout(look, watching ? restMilliseconds : pollMilliseconds);
  return () => {
    clearTimeout(timer);
    watching?.();
  };
}
