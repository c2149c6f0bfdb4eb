import type { EngineContext } from "../../memory/context.ts";
import type { Tape } from "../../memory/tape.ts";

/**
 * Reads a tape again, and all that it builds on: others may have moved what they hold. Returns the tape as it is remembered
 * now: another object if `tape` was forgotten meanwhile, undefined if it is gone.
 */
export async function renew(context: EngineContext, tape: Tape): Promise<Tape | undefined> {
  const now = await context.tapes.refresh(tape.number, tape.lineage);
  let level = tape;
  for (;;) {
    level.packs = [];
    level.outdated = false;
    const { origin } = level.meta;
    // Without its record a source is not remembered either: the next read of it tells what is missing.
    level.source = origin && (await context.tapes.refresh(origin.tape, level.lineage));
    if (!level.source) return now;
    level = level.source;
  }
}

/** Returns how often a tape and those it builds on were rewritten, as text to compare. */
export function rewritesOf(tape: Tape): string {
  let text = "";
  for (let level: Tape | undefined = tape; level; level = level.source) {
    const { rewrites, folds = 0 } = level.meta;
    text += `${level.name}:${rewrites}:${folds} `;
  }
  return text;
}

/**
 * Returns a check whether tapes were rewritten since it was last asked; `find` reads them as they are now. The first answer
 * is always yes: nobody took note of them before.
 */
export function rewriteCheck(find: () => Promise<Tape | undefined>): () => Promise<boolean> {
  let last: string | undefined;
  return async () => {
    const tape = await find();
    const before = last;
    last = tape ? rewritesOf(tape) : "";
    return last !== before;
  };
}
