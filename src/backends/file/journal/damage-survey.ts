import type { OpenFile } from "../disk/file-system.ts";
import type { Line } from "../format/line.ts";
import { noPrior } from "../format/line.ts";
import { isSound, lineStart, parseLine, priorOf } from "../format/line-reader.ts";
import { LineStream } from "../format/line-stream.ts";
import type { Operation } from "../format/operation.ts";
import type { BatchBoundary, ScanResult, Sink } from "./batch-boundary.ts";
import { boundaryAfter, continues } from "./batch-boundary.ts";
import { findMoved } from "./moved-lines.ts";

/** A stretch of a journal: a sound line, a damaged line whose operation the next line repeats, or unreadable bytes. */
type Piece =
  | {
      readonly is: "line";
      readonly offset: number;
      readonly length: number;
      readonly number: number;
      readonly line: Line;
    }
  | {
      readonly is: "damaged";
      readonly offset: number;
      readonly length: number;
      readonly number: number;
      readonly operation: Operation;
      readonly crc: number;
    }
  | { readonly is: "lost"; readonly offset: number; readonly length: number; readonly number: number };

/**
 * Reads a journal that is damaged somewhere behind `from` and decides what the damage is. The checksum of every line is
 * computed.
 */
export async function surveyDamage(
  file: OpenFile,
  size: number,
  from: BatchBoundary,
  synced: number,
  sink: Sink,
): Promise<ScanResult> {
  const found = await settleDamage(file, size, from, synced, sink);
  const end = found.undecided?.after ?? found.end;
  const moved = size > end.offset ? await findMoved(file, size, end) : undefined;
  if (moved === undefined) return found;
  sink.moved(moved);
  return { end: found.end, undecided: undefined, moved };
}

/** Decides which lines count, assuming that a crash left everything behind them. */
async function settleDamage(
  file: OpenFile,
  size: number,
  from: BatchBoundary,
  synced: number,
  sink: Sink,
): Promise<ScanResult> {
  const pieces = await trace(file, await collect(file, size, from));
  const lines = pieces.flatMap((piece) => (piece.is === "line" ? [piece.line] : []));
  const last = lines.at(-1);
  if (last === undefined) return { end: from, undecided: undefined };
  const proved = lines.reduce((greatest, line) => Math.max(greatest, line.synced), synced);
  const cut = cutOf(lines, from, proved);
  const kept = pieces.filter(({ offset }) => offset < cut).map((piece) => clip(piece, cut));
  const undecided = last.joint && last.batch > proved && last.offset < cut ? last.batch : undefined;
  const counted = kept.filter((piece) => piece.is !== "line" || piece.line.batch !== undecided);
  for (const piece of counted) {
    if (piece.is === "line") sink.record(piece.line);
    else if (piece.is === "damaged") sink.damaged(piece.operation, piece);
    else sink.lost(piece);
  }
  const end = endOf(counted, from, proved);
  if (undecided === undefined) return { end, undecided: undefined };
  const open = lines.filter(({ batch }) => batch === undecided);
  return { end, undecided: { lines: open, after: boundaryAfter(last, proved) } };
}

/** Shortens unreadable bytes that reach into a batch that is cut away; lines never do. */
function clip(piece: Piece, cut: number): Piece {
  return piece.is === "lost" ? { ...piece, length: Math.min(piece.length, cut - piece.offset) } : piece;
}

/** Collects sound lines and the stretches between them. A line that cannot be where it is counts as damage. */
async function collect(file: OpenFile, size: number, from: BatchBoundary): Promise<Piece[]> {
  const pieces: Piece[] = [];
  const stream = new LineStream(file, size, from.offset, from.lines);
  let previous: Line | undefined;
  let batch = from.batch;
  const lose = (offset: number, length: number, number: number): void => {
    const last = pieces.at(-1);
    if (last?.is === "lost") pieces[pieces.length - 1] = { ...last, length: last.length + length };
    else pieces.push({ is: "lost", offset, length, number });
  };
  while (await stream.fill()) {
    while (stream.next()) {
      const { buffer, to, offset, number } = stream;
      let start = stream.from;
      let line: Line | undefined;
      // A line begins behind a newline, unless the newline was damaged.
      for (let at = start; at >= 0 && at < to; at = buffer.indexOf(lineStart, at + 1)) {
        line = parseLine(buffer, at, to, offset + at - start, number);
        if (line !== undefined && isSound(buffer.subarray(at, to), line.crc)) {
          if (at > start) lose(offset, at - start, number);
          start = at;
          break;
        }
        line = undefined;
      }
      if (line === undefined || (line.batch <= batch && line.batch !== previous?.batch)) {
        lose(stream.base + start, to - start, number);
        continue;
      }
      // Lines are missing here, although no bytes lie between.
      const touches = pieces.at(-1)?.is !== "lost";
      if (touches && !continues(line, previous, from)) lose(line.offset, 0, number);
      pieces.push({ is: "line", offset: line.offset, length: line.length, number, line });
      previous = line;
      batch = line.batch;
    }
  }
  return pieces;
}

/** Recovers the operations of damaged lines, which the sound lines behind them repeat. */
async function trace(file: OpenFile, pieces: readonly Piece[]): Promise<Piece[]> {
  const traced: Piece[] = [];
  for (const [index, piece] of pieces.entries()) {
    const next = pieces[index + 1];
    if (piece.is === "lost" && next?.is === "line") traced.push(...(await traceBack(file, piece, next.line)));
    else traced.push(piece);
  }
  return traced;
}

async function traceBack(file: OpenFile, lost: Piece & { readonly is: "lost" }, next: Line): Promise<Piece[]> {
  const found: Piece[] = [];
  let end = lost.offset + lost.length;
  let behind = next;
  for (;;) {
    const prior = priorOf(await file.read(behind.offset, behind.length));
    const offset = end - prior.length;
    if (prior.operation === undefined || offset < lost.offset) break;
    const number = Math.max(lost.number, behind.number - 1);
    const bytes = await file.read(offset, prior.length);
    const line = parseLine(bytes, 0, bytes.length, offset, number);
    end = offset;
    if (line === undefined || line.crc !== prior.crc || !isSound(bytes, line.crc)) {
      found.unshift({
        is: "damaged",
        offset,
        length: prior.length,
        number,
        operation: prior.operation,
        crc: prior.crc,
      });
      break;
    }
    // Only the newline before it was damaged.
    found.unshift({ is: "line", offset, length: line.length, number, line });
    behind = line;
  }
  const rest = end - lost.offset;
  if (rest > 0 || found.length === 0) found.unshift({ ...lost, length: rest });
  return found;
}

/**
 * Returns the journal's end. Batches up to `proved` were whole once and stay, even if damaged; later batches stay up to
 * the first that is not whole.
 */
function cutOf(lines: readonly Line[], from: BatchBoundary, proved: number): number {
  const newest = (lines.at(-1) as Line).batch;
  let end: number | undefined = proved === from.batch ? from.offset : undefined;
  for (const line of lines) if (line.batch === proved && line.record === line.of) end = line.offset + line.length;
  const batches = byBatch(lines);
  for (let batch = proved + 1; batch <= newest; batch++) {
    const members = batches.get(batch) ?? [];
    const [first] = members;
    if (
      first !== undefined &&
      isWhole(members) &&
      (end === undefined || batch === proved + 1 || first.offset === end)
    ) {
      const last = members.at(-1) as Line;
      end = last.offset + last.length;
    } else if (first !== undefined) {
      return first.start;
    } else if (end !== undefined) {
      return end;
    } else {
      // A synced batch and one that was not synced are damaged side by side, and where one ends is unknown. No cut is
      // right, so none is made, and these bytes count as damaged.
      break;
    }
  }
  const last = lines.at(-1) as Line;
  return last.offset + last.length;
}

function byBatch(lines: readonly Line[]): Map<number, Line[]> {
  const batches = new Map<number, Line[]>();
  for (const line of lines) {
    const members = batches.get(line.batch);
    if (members === undefined) batches.set(line.batch, [line]);
    else members.push(line);
  }
  return batches;
}

function isWhole(lines: readonly Line[]): boolean {
  const [first] = lines;
  if (first === undefined || first.start !== first.offset || first.record !== 1 || first.of !== lines.length)
    return false;
  return lines.every((line, index) => {
    const previous = lines[index - 1];
    return (
      previous === undefined || (line.offset === previous.offset + previous.length && line.priorCrc === previous.crc)
    );
  });
}

function endOf(pieces: readonly Piece[], from: BatchBoundary, synced: number): BatchBoundary {
  const last = pieces.at(-1);
  if (last === undefined) return from;
  if (last.is === "line") return boundaryAfter(last.line, synced);
  const { offset, length, number } = last;
  const prior = last.is === "damaged" ? { operation: last.operation, length, crc: last.crc } : noPrior;
  return { offset: offset + length, lines: number, batch: synced, synced, prior };
}
