import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { headOf } from "./find.ts";
import { shownRows } from "./shown-rows.ts";

/** Tells whether a thread shows any checkpoint, in any namespace. A lease or early writes alone make no thread. */
export async function hasCheckpoints(context: EngineContext, tape: Tape): Promise<boolean> {
  if (await headOf(context, tape, "")) return true;
  for await (const _ of shownRows(context, tape)) return true;
  return false;
}
