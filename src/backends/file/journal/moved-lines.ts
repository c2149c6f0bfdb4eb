import type { OpenFile } from "../disk/file-system.ts";
import type { Line } from "../format/line.ts";
import { headCheck, tailLength } from "../format/line.ts";
import { hexadecimal, isSound, lineStart } from "../format/line-reader.ts";
import { LineStream } from "../format/line-stream.ts";
import type { BatchBoundary } from "./batch-boundary.ts";

const newline = Buffer.from("\n");
const carriageReturn = 0x0d;
const crcWord = Buffer.from(',"crc":"', "latin1");
const headWord = Buffer.from(',"head":"', "latin1");

/** What a line tells of itself wherever it stands: its own checksum does not depend on the offset. */
interface Stray {
  readonly synced: number;
  readonly crc: number;
  readonly priorCrc: number;
  /** Whether it is as it was written, and where it was written. */
  readonly isInPlace: boolean;
}

/**
 * Where the journal goes on behind its end, if it does: with lines that are whole, but elsewhere than they were written.
 * A crash leaves bytes in their places or not at all, so that somebody added bytes or took some away: an editor, a
 * conversion of line ends. Two things make sure that such a line is one of this journal that counts, and not what the
 * medium held there before: it says that a batch was synced which is not to be found, or it follows upon the last line.
 */
export async function findMoved(
  file: OpenFile,
  size: number,
  end: BatchBoundary,
): Promise<Pick<Line, "offset" | "number"> | undefined> {
  const stream = new LineStream(file, size, end.offset, end.lines);
  let last = end.prior.crc;
  while (await stream.fill()) {
    while (stream.next()) {
      const stray = strayIn(stream);
      if (stray === undefined) continue;
      const follows = stray.priorCrc === last;
      if (!stray.isInPlace && (follows || stray.synced > end.batch))
        return { offset: end.offset, number: end.lines + 1 };
      if (follows) last = stray.crc;
    }
  }
  return undefined;
}

/** The line that ends where the stream's does. It begins there too, unless something was put before it. */
function strayIn({ buffer, from, to, offset }: LineStream): Stray | undefined {
  const begins = buffer.subarray(from, to).indexOf(lineStart);
  if (begins < 0) return undefined;
  if (buffer[to - 2] !== carriageReturn) return parseStray(buffer.subarray(from + begins, to), offset + begins);
  const stray = parseStray(Buffer.concat([buffer.subarray(from + begins, to - 2), newline]), offset + begins);
  return stray && { ...stray, isInPlace: false };
}

function parseStray(line: Buffer, offset: number): Stray | undefined {
  const tail = line.length - tailLength;
  const end = line.indexOf(headWord);
  if (end < 0 || tail < end || line.indexOf(crcWord, tail) !== tail) return undefined;
  const crc = hexadecimal(line, line.length - 11);
  if (!isSound(line, crc)) return undefined;
  let fields: { readonly batch?: unknown; readonly synced?: unknown };
  try {
    fields = JSON.parse(`${line.toString("utf8", 0, end)}}`) as typeof fields;
  } catch {
    return undefined;
  }
  const { batch, synced = Number(batch) - 1 } = fields;
  const isInPlace = headCheck(line.subarray(0, end), offset) === hexadecimal(line, end + headWord.length);
  return { synced: Number(synced), crc, priorCrc: hexadecimal(line, tail - 10), isInPlace };
}
