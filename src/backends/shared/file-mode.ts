/** The files of a store are for their owner only, unless an option says otherwise. */
export const ownerOnly = 0o600;

const readAndWriteByAll = 0o666;

/** Returns a mode for files as it was given, or the default. Others may be let in, the owner cannot be kept out. */
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

/** Whoever may read files may go into their directory. */
export function directoryMode(mode: number): number {
  return mode | ((mode & 0o444) >> 2);
}
