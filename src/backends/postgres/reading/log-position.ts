import type { LogPage } from "../../../backend.ts";

/** A position of the log: the number of the writing transaction, and the line's number in it. */
interface Position {
  readonly xid: string;
  readonly number: number;
}

const start: Position = { xid: "0", number: 0 };
const form = /^([1-9][0-9]{0,18})\.([1-9][0-9]{0,8})$/;

/** Returns the position that a text stands for; the start for a text that is none. */
export function positionOf(text: string): Position {
  const [, xid, number] = form.exec(text) ?? [];
  return xid === undefined ? start : { xid, number: Number(number) };
}

type Line = LogPage["lines"][number];

/** Compares lines by their positions. */
export function comparePositions(left: Pick<Line, "position">, right: Pick<Line, "position">): number {
  const [a, b] = [positionOf(left.position), positionOf(right.position)];
  const [first, second] = [BigInt(a.xid), BigInt(b.xid)];
  return first === second ? a.number - b.number : first < second ? -1 : 1;
}

function isAfter(left: string, right: string): boolean {
  return comparePositions({ position: left }, { position: right }) > 0;
}

/** Makes a page of the lines behind `after`. `cut`: the position up to which the log was cut. */
export function logPage(after: string, lines: readonly Line[], cut: string, newest: string): LogPage {
  // After a cut there is always a newest line, but it may not be readable yet.
  const end = newest === "" || isAfter(cut, newest) ? cut : newest;
  const isKnown = after === "" || form.test(after);
  return { lines, end, expired: !isKnown || isAfter(cut, after) || isAfter(after, end) };
}
