import type { Found, Read, Value } from "../../../backend.ts";
import { ifDamaged } from "../../faults/damage.ts";
import type { EngineContext } from "../../memory/context.ts";
import type { Tape } from "../../memory/tape.ts";
import { rangeOf } from "../../records/keys.ts";
import { decodeMarks, type MarkVersion } from "../../records/marks.ts";
import { decodeMeta, type Meta } from "../../records/meta.ts";
import { levels } from "./levels.ts";

/** A tape as it was known at one moment: the tape itself may be brought up to date in place. */
interface KnownLevel {
  readonly tape: Tape;
  readonly metaValue: Value;
  readonly meta: Meta;
  readonly marks: string;
}

/**
 * Notes the present state of a thread's tape and those it builds on. The returned check tells whether that still holds
 * in the store: a caller that reads a thread in many calls asks it at the end, since others may have deleted, replaced
 * or moved rows. Rows that were appended or sealed since do not count.
 */
export async function standingOf(context: EngineContext, tape: Tape): Promise<() => Promise<boolean>> {
  const known: KnownLevel[] = [];
  try {
    for await (const { tape: level } of levels(context, tape)) {
      const { metaValue, meta, marks } = level;
      known.push({ tape: level, metaValue, meta, marks: textOf(marks) });
    }
  } catch (error) {
    // A tape that is missing is reported when its rows are needed.
    ifDamaged(error);
  }
  return async () => {
    const reads = known.flatMap(({ tape: level }): Read[] => [
      { get: level.metaKey },
      { scan: rangeOf(level, "mark") },
    ]);
    const answers = await context.read(reads);
    return known.every((level, index) => {
      const [metaValue, marks] = answers.slice(2 * index) as [Value | undefined, readonly Found[]];
      if (metaValue === level.metaValue) return true;
      if (metaValue === undefined || shownBy(decodeMeta(metaValue)) !== shownBy(level.meta)) return false;
      return textOf(decodeMarks(marks)) === level.marks;
    });
  };
}

/**
 * Returns the part of a meta record that decides what is shown: without the fields that appending, sealing, forking,
 * leases and writes change.
 */
function shownBy(meta: Meta): string {
  const { version, generation, sealed, rootSealed, rootStep, rootFull, floor, greatestId, ...rest } = meta;
  const { epoch, lease, failed, ...shown } = rest;
  return JSON.stringify(shown);
}

function textOf(marks: ReadonlyMap<number, readonly MarkVersion[]>): string {
  return JSON.stringify([...marks]);
}
