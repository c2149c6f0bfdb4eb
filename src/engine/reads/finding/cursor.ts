import type { TapeRecords } from "../../../backend.ts";
import { ThreadmarkError } from "../../../errors.ts";
import type { EngineContext } from "../../memory/context.ts";
import { threadsAt } from "../thread-info.ts";

/** The place of an entry in a list by activity: its time, then the tape. */
export interface ListPlace {
  readonly time: number;
  readonly lineage: number;
  readonly tape: number;
  /** The newest records of its tape, if they were read with the entry. */
  readonly records?: TapeRecords | undefined;
}

/** The place of a thread, with the exact time of its last activity. */
export interface ThreadPlace extends ListPlace {
  readonly updatedAt: number;
}

const form = /^@([0-9a-z]+)\.([0-9a-z]+)\.([0-9a-z]+)\.(-?[0-9a-z.]*)$/;

export function cursorOf({ time, lineage, tape, updatedAt }: ThreadPlace): string {
  // Mostly the two times are one.
  const exact = updatedAt === time ? "" : updatedAt.toString(36);
  const number = tape.toString(36);
  return `@${time.toString(36)}.${lineage === tape ? number : lineage.toString(36)}.${number}.${exact}`;
}

/** Returns the place that a cursor names; undefined for a text that is no cursor. */
export function placeOf(cursor: string): ThreadPlace | undefined {
  const [, ...parts] = form.exec(cursor) ?? [];
  if (parts.length === 0) return undefined;
  const [time, lineage, tape, exact] = parts.map((part) => Number.parseInt(part, 36)) as [
    number,
    number,
    number,
    number,
  ];
  return { time, lineage, tape, updatedAt: Number.isNaN(exact) ? time : exact };
}

/** Returns the place that `after` names: by a cursor, or by the id of a thread that is still there. */
export async function placeAfter(context: EngineContext, after: string): Promise<ThreadPlace> {
  const place = placeOf(after);
  if (place) return place;
  const tape = await context.thread(after);
  const [found] = tape ? await threadsAt(context, [{ lineage: tape.lineage, tape: tape.number }]) : [];
  if (found) {
    const { place, meta, info } = found;
    return { ...place, time: meta.index?.t ?? info.updatedAt, updatedAt: info.updatedAt };
  }
  throw new ThreadmarkError(
    "NOT_FOUND",
    `Thread ${JSON.stringify(after)}, after which the list was to go on, is gone. Begin again, or go on from a cursor.`,
    { thread: after },
  );
}

/** Compares entries in the order of a list: the newest first. */
export function comparePlaces(left: ListPlace, right: ListPlace): number {
  return right.time - left.time || right.lineage - left.lineage || right.tape - left.tape;
}

/** Compares threads by the second of their last activity, and in it by the exact time. */
export function compareActivity(left: ThreadPlace, right: ThreadPlace): number {
  return (
    secondOf(right) - secondOf(left) ||
    right.updatedAt - left.updatedAt ||
    right.lineage - left.lineage ||
    right.tape - left.tape
  );
}

export function secondOf({ time }: Pick<ListPlace, "time">): number {
  return Math.floor(time / 1000);
}
