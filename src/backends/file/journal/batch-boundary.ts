import type { Line, Prior } from "../format/line.ts";
import { noPrior } from "../format/line.ts";
import type { Operation } from "../format/operation.ts";

/** A boundary between two batches of a journal, with everything needed to continue from there. */
export interface BatchBoundary {
  readonly offset: number;
  /** The number of lines before it. */
  readonly lines: number;
  /** The last batch before it. */
  readonly batch: number;
  /** All batches up to this one were whole on the medium before a later one was begun. */
  readonly synced: number;
  readonly prior: Prior;
}

export const beginning: BatchBoundary = { offset: 0, lines: 0, batch: 0, synced: 0, prior: noPrior };

/** Receives the findings of a scan, in the order of the file. */
export interface Sink {
  record(line: Line): unknown;
  /** A line with this operation was damaged after it was synced. */
  damaged(operation: Operation, line: Pick<Line, "offset" | "length" | "number">): void;
  /** Unknown lines were damaged after they were synced. */
  lost(line: Pick<Line, "offset" | "number">): void;
  /** The lines from here on are no longer where they were written, so their operations are unknown. */
  moved(line: Pick<Line, "offset" | "number">): void;
}

/** A whole batch that counts only if the directory confirms it. Nothing comes after it. */
export interface Undecided {
  readonly lines: readonly Line[];
  readonly after: BatchBoundary;
}

export interface ScanResult {
  /**
   * The end of the batches that count. Behind it is an undecided batch, or a batch that a crash cut short, or moved
   * lines.
   */
  readonly end: BatchBoundary;
  readonly undecided: Undecided | undefined;
  /** The start of lines that no crash left there: they must not be cut away. */
  readonly moved?: Pick<Line, "offset" | "number">;
}

/** Passes whole batches to the sink, except for a joint batch at the end, which the directory decides. */
export function takeWholeBatches(lines: readonly Line[], start: BatchBoundary, synced: number, sink: Sink): ScanResult {
  const last = lines.at(-1);
  if (last === undefined) return { end: start, undecided: undefined };
  let end = start;
  for (const line of lines) {
    if (last.joint && line.batch === last.batch) break;
    sink.record(line);
    if (line.record === line.of) end = boundaryAfter(line, synced);
  }
  if (!last.joint) return { end, undecided: undefined };
  const undecided = { lines: lines.filter(({ batch }) => batch === last.batch), after: boundaryAfter(last, synced) };
  return { end, undecided };
}

export function boundaryAfter(line: Line, synced: number): BatchBoundary {
  const { offset, length, number, batch, operation, crc } = line;
  return { offset: offset + length, lines: number, batch, synced, prior: { operation, length, crc } };
}

/** Returns whether a line was written right behind the previous line, or behind the boundary if there is none. */
export function continues(line: Line, previous: Line | undefined, boundary: BatchBoundary): boolean {
  if (previous === undefined) {
    // A compacted journal continues the batch numbers of the file it replaced.
    const numbered = line.batch === boundary.batch + 1 || boundary.offset === 0;
    return numbered && line.record === 1 && line.start === line.offset && line.priorCrc === boundary.prior.crc;
  }
  if (line.priorCrc !== previous.crc) return false;
  if (line.batch === previous.batch) {
    return line.record === previous.record + 1 && line.record <= line.of && isSameBatch(line, previous);
  }
  const begins = line.batch === previous.batch + 1 && line.record === 1 && line.start === line.offset;
  return begins && previous.record === previous.of;
}

function isSameBatch(line: Line, previous: Line): boolean {
  return line.of === previous.of && line.start === previous.start;
}
