import type { OpenFile } from "../disk/file-system.ts";
import type { Line } from "../format/line.ts";
import { isSound, parseLine } from "../format/line-reader.ts";
import { LineStream } from "../format/line-stream.ts";
import type { BatchBoundary, ScanResult, Sink } from "./batch-boundary.ts";
import { boundaryAfter, continues, takeWholeBatches } from "./batch-boundary.ts";
import { surveyDamage } from "./damage-survey.ts";

/** The most bytes of a long batch that are read at once to check it. */
const checkBytes = 1 << 20;

/**
 * Reads a journal from a batch boundary on. A batch is begun only after the one before is synced, so a line proves that
 * all earlier batches were whole once. Damage in the last batch therefore means that a crash cut it short, and the
 * whole batch does not count; damage in an earlier batch happened later.
 */
export async function scan(file: OpenFile, size: number, from: BatchBoundary, sink: Sink): Promise<ScanResult> {
  const stream = new LineStream(file, size, from.offset, from.lines);
  let synced = from.synced;
  let previous: Line | undefined;
  /** The last line of the last accepted batch. */
  let taken: Line | undefined;
  /** Lines of batches that no later line has proved whole yet. */
  let pending: Line[] = [];
  const end = (): BatchBoundary => (taken === undefined ? from : boundaryAfter(taken, synced));
  while (await stream.fill()) {
    while (stream.next()) {
      const line = parseLine(stream.buffer, stream.from, stream.to, stream.offset, stream.number);
      if (line === undefined || !continues(line, previous, from)) return surveyDamage(file, size, end(), synced, sink);
      // Written without waiting for the medium, so no later line may prove it whole: its checksum is needed.
      if (line.synced < line.batch - 1) line.sound = isSound(stream.buffer.subarray(stream.from, stream.to), line.crc);
      if (line.synced > synced) {
        synced = line.synced;
        let count = 0;
        for (const earlier of pending) {
          if (earlier.batch > synced) break;
          sink.record(earlier);
          taken = earlier;
          count++;
        }
        if (count === pending.length) pending.length = 0;
        else pending = pending.slice(count);
      }
      pending.push(line);
      previous = line;
    }
  }
  if (previous === undefined) return { end: from, undecided: undefined };
  if (previous.record !== previous.of || !(await areSound(file, pending))) {
    return surveyDamage(file, size, end(), synced, sink);
  }
  return takeWholeBatches(pending, end(), synced, sink);
}

/** Returns whether the checksums of adjacent lines hold. Reads only lines whose checksum was not computed yet. */
async function areSound(file: OpenFile, all: readonly Line[]): Promise<boolean> {
  if (all.some(({ sound }) => sound === false)) return false;
  const lines = all.filter(({ sound }) => sound === undefined);
  let from = 0;
  while (from < lines.length) {
    const first = lines[from] as Line;
    let to = from + 1;
    while (to < lines.length && (lines[to] as Line).offset - first.offset < checkBytes) to++;
    const last = lines[to - 1] as Line;
    const bytes = await file.read(first.offset, last.offset + last.length - first.offset);
    for (const line of lines.slice(from, to)) {
      const at = line.offset - first.offset;
      line.sound = isSound(bytes.subarray(at, at + line.length), line.crc);
      if (!line.sound) return false;
    }
    from = to;
  }
  return true;
}
