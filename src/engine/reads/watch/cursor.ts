import { base64, bytesOfBase64, utf8 } from "../../../platform/bytes.ts";

/** A tape whose rows are followed, and the last of them that was told. */
export type FollowedSeq = readonly [lineage: number, tape: number, told: number];

/** How far a watch has come. */
export interface WatchState {
  /** The position in the log of the last line that was told whole. */
  readonly position: string;
  /** The number of changes of the next line that were told too. */
  readonly skip: number;
  readonly followed: readonly FollowedSeq[];
}

const VERSION = 1;

/** Returns the text of a cursor. It belongs to a filter: under another, changes would be missing. */
export function encodeCursor(filter: string, { position, skip, followed }: WatchState): string {
  const text = base64(utf8(JSON.stringify([VERSION, filter, position, skip, followed])));
  // Safe in a url.
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Returns the state that a cursor stands for. Throws a TypeError for a text that is no cursor of this filter. */
export function decodeCursor(filter: string, cursor: string): WatchState {
  const [version, of, position, skip, followed] = parsed(cursor);
  const sound =
    version === VERSION &&
    typeof of === "string" &&
    typeof position === "string" &&
    isCount(skip) &&
    Array.isArray(followed) &&
    followed.every(isFollowed);
  if (!sound) throw new TypeError("after must be the cursor of a change that watch has yielded.");
  if (of !== filter) {
    throw new TypeError("after is the cursor of a watch with another thread, workflow or kinds. Go on with the same.");
  }
  return { position, skip, followed: followed as unknown as readonly FollowedSeq[] };
}

function parsed(cursor: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(
      new TextDecoder().decode(bytesOfBase64(cursor.replaceAll("-", "+").replaceAll("_", "/"))),
    );
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function isFollowed(entry: unknown): boolean {
  if (!Array.isArray(entry) || entry.length !== 3) return false;
  const [lineage, tape, told] = entry as readonly unknown[];
  // The writes that a row carries are half a seq before it.
  return isCount(lineage) && isCount(tape) && typeof told === "number" && isCount(told * 2);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
