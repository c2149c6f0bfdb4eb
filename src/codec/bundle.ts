import { ThreadmarkError } from "../errors.ts";
import { checksum } from "./envelope.ts";
import { jsonText, RECORD_BYTES, tooLarge } from "./json-text.ts";

/**
 * Returns a record as a line of a bundle: `{"crc":"3f2a9c1d","record":{…}}`, where the checksum is that of the record's
 * text. Lines are JSON, so ordinary tools can read them.
 */
export function bundleLine(record: unknown): string {
  const text = jsonText(record);
  return `{"crc":"${checksum(text)}","record":${text}}\n`;
}

/** The longest line: a record and the characters around it, in base64 where it is encrypted. */
const LINE_LENGTH = 1.4 * RECORD_BYTES + 1_000;

const START = '{"crc":"';
const MIDDLE = '","record":';
const HEAD = START.length + 8 + MIDDLE.length;

/** Returns the record of a line. Throws `CORRUPT` with the number of the line. */
export function parseBundleLine(line: string, number: number): unknown {
  const text = line.slice(HEAD, -1);
  const sound =
    line.startsWith(START) &&
    line.startsWith(MIDDLE, START.length + 8) &&
    line.endsWith("}") &&
    line.slice(START.length, START.length + 8) === checksum(text);
  if (!sound) throw damaged(number, "its checksum does not match");
  try {
    const record: unknown = JSON.parse(text);
    if (typeof record === "object" && record !== null) return record;
  } catch (error) {
    throw damaged(number, "its record is no JSON", error);
  }
  throw damaged(number, "its record is no object");
}

export function damaged(line: number, fault: string, cause?: unknown): ThreadmarkError {
  return new ThreadmarkError(
    "CORRUPT",
    `Line ${line} of the bundle is damaged: ${fault}. Nothing of its thread was imported; export it again.`,
    { ...(cause !== undefined && { cause }) },
  );
}

/** Splits chunks of text or bytes into lines. */
export async function* linesOf(
  source: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8");
  // The pieces of the line under way. They are joined once, since a line may be long and come in many pieces.
  let parts: string[] = [];
  let length = 0;
  const add = (part: string): void => {
    length += part.length;
    if (length > LINE_LENGTH) throw tooLarge("A line of the bundle", length, LINE_LENGTH);
    parts.push(part);
  };
  for await (const chunk of source) {
    const text = typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      add(text.slice(start, end));
      start = end + 1;
      yield parts.join("");
      parts = [];
      length = 0;
    }
    if (start < text.length) add(text.slice(start));
  }
  const rest = parts.join("") + decoder.decode();
  if (rest !== "") yield rest;
}
