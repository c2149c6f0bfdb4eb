import type { Line, Prior } from "../format/line.ts";
import { noPrior } from "../format/line.ts";
import type { Operation } from "../format/operation.ts";

/** A place between two batches of a journal, and what has to be known to go on from there. */
export interface BatchBoundary {
  readonly offset: number;
  /** How many lines come before it. */
  readonly lines: number;
  /** The last batch before it. */
  readonly batch: number;
  /** A batch up to this one was whole on the medium before a later one was begun. */
  readonly synced: number;
  readonly prior: Prior;
}

export const beginning: BatchBoundary = { offset: 0, lines: 0, batch: 0, synced: 0, prior: noPrior };

/** What a scan finds, in the order of the file. */
export interface Sink {
  record(line: Line): unknown;
  /** A line that says this was damaged after it was synced. */
  damaged(operation: Operation, line: Pick<Line, "offset" | "length" | "number">): void;
  /** Lines of which nothing is known were damaged after they were synced. */
  lost(line: Pick<Line, "offset" | "number">): void;
  /** The lines from here on are no longer where they were written: nothing is known of what they changed. */
  moved(line: Pick<Line, "offset" | "number">): void;
}

/** Whole, but it counts only if the directory says so. Nothing comes after it. */
export interface Undecided {
  readonly lines: readonly Line[];
  readonly after: BatchBoundary;
}

export interface ScanResult {
  /** The end of what counts. What follows is an undecided batch, or was cut short by a crash, or was moved. */
  readonly end: BatchBoundary;
  readonly undecided: Undecided | undefined;
  /** Where lines follow that no crash left there: they must not be cut away. */
  readonly moved?: Pick<Line, "offset" | "number">;
}

/** Takes in whole batches, but for the last when it is joint: that one is for the directory to decide. */
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

/** Whether a line is the one that was written behind the line, or the position, before it. */
export function continues(line: Line, previous: Line | undefined, boundary: BatchBoundary): boolean {
  if (previous === undefined) {
    // A compacted journal goes on with the numbers of the one it replaced.
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
