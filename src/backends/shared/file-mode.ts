/** The default permissions of a store's files: for their owner only. */
export const ownerOnly = 0o600;

const readAndWriteByAll = 0o666;

/** Returns a valid mode for files, or the default. A mode may give others access, but must not exclude the owner. */
export function checkedMode(mode: unknown): number {
  if (mode === undefined) return ownerOnly;
  const isMode = typeof mode === "number" && Number.isInteger(mode) && mode >= 0;
  if (!isMode || (mode & ~readAndWriteByAll) !== 0 || (mode & ownerOnly) !== ownerOnly) {
    throw new TypeError(
      "mode must be the permissions of files, as in 0o660: reading and writing for the owner, and for others as you like.",
    );
  }
  return mode;
}

/** Returns the mode of a directory: it can be entered by everyone who may read the files in it. */
export function directoryMode(mode: number): number {
  return mode | ((mode & 0o444) >> 2);
}
