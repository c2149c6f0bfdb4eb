/** A status without the lease, as meta records have it. */
export type StatusCode = "w" | "f" | "c" | "d" | "p";

/** The part of a meta record from which most entries of a thread are made. */
export interface IndexState {
  readonly s: StatusCode;
  /** The time of the first commit in the last second in which the thread was active, down to a tenth of a second. */
  readonly t: number;
  readonly w?: string;
  /** The head is of a nested namespace, because the root has no checkpoint. */
  readonly nested?: true;
}

/** Milliseconds of a tenth of a second. A second has a whole number of them: no time moves into the second before. */
const TENTH = 100;

/** Returns the tenth of a second that a time is in. */
export function tenthsOf(time: number): number {
  return Math.floor(time / TENTH);
}

/** Returns a time in milliseconds as the index keeps it. */
export function indexTime(time: number): number {
  return tenthsOf(time) * TENTH;
}

/**
 * Returns an index as a meta record has it: the status, a capital where the head is nested; tenths of a second since the
 * thread was made, in base 36, unless they are 0; and behind a space the workflow.
 */
export function encodeIndex({ s, t, w, nested }: IndexState, createdAt: number): string {
  const since = tenthsOf(t) - tenthsOf(createdAt);
  const status = nested ? s.toUpperCase() : s;
  return status + (since === 0 ? "" : since.toString(36)) + (w === undefined ? "" : ` ${w}`);
}

export function decodeIndex(text: string, createdAt: number): IndexState {
  const space = text.indexOf(" ");
  const end = space < 0 ? text.length : space;
  const since = end === 1 ? 0 : Number.parseInt(text.slice(1, end), 36);
  const first = text[0] as string;
  const s = first.toLowerCase() as StatusCode;
  const state = { s, t: (tenthsOf(createdAt) + since) * TENTH };
  if (first !== s) return space < 0 ? { ...state, nested: true } : { ...state, w: text.slice(end + 1), nested: true };
  return space < 0 ? state : { ...state, w: text.slice(end + 1) };
}
