/** How large a pack may become. */
export interface PackBounds {
  readonly packRows: number;
  readonly packBytes: number;
}

export interface PackRuns<T> {
  /** Runs of rows, each of which makes one pack. */
  readonly full: readonly (readonly T[])[];
  /** The newest rows, which have room for more beside them. */
  readonly rest: readonly T[];
}

/**
 * Cuts rows that follow each other into runs for packs. A run has at most `packRows` rows and `packBytes` bytes; a row that is
 * larger by itself has a pack of its own. So sealing, reading and rewriting a pack cost a bounded number of bytes, or one row.
 */
export function packRuns<T>(
  rows: readonly T[],
  bytesOf: (row: T) => number,
  { packRows, packBytes }: PackBounds,
): PackRuns<T> {
  const full: T[][] = [];
  let run: T[] = [];
  let bytes = 0;
  const finish = (): void => {
    if (run.length > 0) full.push(run);
    run = [];
    bytes = 0;
  };
  for (const row of rows) {
    const own = bytesOf(row);
    if (bytes + own > packBytes) finish();
    run.push(row);
    bytes += own;
    if (run.length >= packRows || bytes >= packBytes) finish();
  }
  return { full, rest: run };
}
