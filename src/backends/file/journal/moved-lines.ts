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

/** The fields of a line that hold anywhere in the file: the line's own checksum does not depend on its offset. */
interface Stray {
  readonly synced: number;
  readonly crc: number;
  readonly priorCrc: number;
  /** Whether the line is unchanged and at the offset where it was written. */
  readonly isInPlace: boolean;
}

/**
 * Finds whole lines behind the journal's end that are not where they were written. A crash leaves bytes in their places
 * or not at all, so bytes were added or taken away: by an editor, or by a conversion of line ends. Such a line belongs
 * to this journal, rather than to an earlier content of the medium, if it declares a batch synced that is missing, or
 * if it follows the last line.
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

/** Returns the line that ends where the stream's line does. It also begins there, unless bytes were put before it. */
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
