/**
 * Default checkpoint ids look like UUIDs of version 7, so they sort by time; what would be random in one says where
 * the checkpoint is (tape and seq). Finding such a checkpoint needs no index, and a pack need not store its id.
 *
 * Behind the version are three digits with the bits of the tape from the 31st on, and behind the variant (binary 10) 31 bits each
 * of tape and seq.
 */
const LIMIT = 2 ** 31;
const TAPES = 2 ** 40;

// Ids are made many in one millisecond, and of a few tapes at a time.
let knownTime = -1;
let timePart = "";
const tapeParts = new Map<number, string>();
const MOST_TAPES = 4096;

/** Makes the id of the checkpoint that a tape commits under `seq` at time `now`; undefined where the numbers do not fit. */
export function addressedId(now: number, tape: number, seq: number): string | undefined {
  if (!(now >= 0 && now < 2 ** 48 && tape < TAPES && seq < LIMIT)) return undefined;
  if (now !== knownTime) {
    const time = Math.floor(now).toString(16).padStart(12, "0");
    timePart = `${time.slice(0, 8)}-${time.slice(8)}`;
    knownTime = now;
  }
  return timePart + addressPart(tape, seq);
}

/** Returns the digits of tape and seq, with the version and the variant among them. */
function addressPart(tape: number, seq: number): string {
  return tapePart(tape) + lowBits(tape, seq).toString(16).padStart(8, "0");
}

/** Returns the text between the time and the low bits. */
function tapePart(tape: number): string {
  let part = tapeParts.get(tape);
  if (part === undefined) {
    const highest = Math.floor(tape / LIMIT)
      .toString(16)
      .padStart(3, "0");
    const high = (0x80000000 + Math.floor((tape % LIMIT) / 2)).toString(16);
    part = `-7${highest}-${high.slice(0, 4)}-${high.slice(4)}`;
    if (tapeParts.size >= MOST_TAPES) tapeParts.clear();
    tapeParts.set(tape, part);
  }
  return part;
}

function lowBits(tape: number, seq: number): number {
  return (tape % 2) * LIMIT + seq;
}

/**
 * Returns the time for which {@link addressedId} makes this id of a tape and a seq; undefined where it makes it for none. Reads
 * digits instead of making an id to compare with: every row is asked when it is sealed.
 */
export function timeOfAddressed(id: string, tape: number, seq: number): number | undefined {
  if (id.length !== 36 || id.charCodeAt(8) !== DASH || !id.startsWith(tapePart(tape), 13)) return undefined;
  if (!(seq < LIMIT) || hexadecimal(id, 28, 36) !== lowBits(tape, seq)) return undefined;
  const time = hexadecimal(id, 0, 8) * 2 ** 16 + hexadecimal(id, 9, 13);
  return Number.isNaN(time) ? undefined : time;
}

const DASH = 0x2d;

/** Returns the number that digits of an id stand for; NaN if there is anything else among them. */
function hexadecimal(id: string, from: number, to: number): number {
  let number = 0;
  for (let index = from; index < to; index += 1) {
    const code = id.charCodeAt(index);
    if (code >= 0x30 && code <= 0x39) number = number * 16 + code - 0x30;
    else if (code >= 0x61 && code <= 0x66) number = number * 16 + code - 0x57;
    else return Number.NaN;
  }
  return number;
}

/** The place and the digit of the version in an id made by {@link addressedId}. */
const VERSION_AT = 14;
const VERSION = 0x37;

const PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-7([0-9a-f]{3})-([0-9a-f]{4})-([0-9a-f]{4})([0-9a-f]{8})$/;

/** Returns where an id made by {@link addressedId} says its checkpoint is. The checkpoint there may have another id. */
export function idAddress(
  id: string,
): { readonly time: number; readonly tape: number; readonly seq: number } | undefined {
  // Other ids, as those of LangGraph, mostly have another version.
  if (id.charCodeAt(VERSION_AT) !== VERSION) return undefined;
  const match = PATTERN.exec(id);
  if (!match) return undefined;
  const highest = Number.parseInt(match[1] as string, 16);
  const high = Number.parseInt(`${match[2]}${match[3]}`, 16) - 0x80000000;
  const low = Number.parseInt(match[4] as string, 16);
  if (high < 0 || high >= 2 ** 30 || highest >= TAPES / LIMIT) return undefined;
  const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  return { time, tape: highest * LIMIT + high * 2 + (low >= LIMIT ? 1 : 0), seq: low % LIMIT };
}
