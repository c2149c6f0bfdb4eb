import type { Listed } from "../../backend.ts";
import { nextTurn } from "../../platform/turns.ts";
import { ifDamaged, isCorrupt } from "../faults/damage.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { tapeName } from "../records/keys.ts";
import { decodeDirectory } from "../records/store-wide/directory.ts";

const PAGE = 100;
/** Tapes read at once: few at first, since the caller may want no more, and never many, since tails may be large. */
const FIRST_TAPES = 4;
export const TAPES = 16;

/** Which threads, by their ids. */
export interface ThreadRange {
  readonly prefix?: string;
  readonly after?: string;
}

/** Yields the directory in bytewise order of the ids, a page at a time. */
export async function* directoryPages(context: EngineContext, range: ThreadRange): AsyncGenerator<readonly Listed[]> {
  const { prefix } = range;
  let last = range.after;
  for (;;) {
    const list = { limit: PAGE, ...(prefix !== undefined && { prefix }), ...(last !== undefined && { after: last }) };
    const [page] = (await context.read([{ list }])) as readonly [readonly Listed[]];
    yield page;
    if (page.length < PAGE) return;
    last = page.at(-1)?.id;
    await nextTurn();
  }
}

/** Yields the tapes of all threads, in bytewise order of their ids. */
export async function* allThreads(
  context: EngineContext,
  options: ThreadRange & {
    /** Where given, threads that cannot be read are passed over and told. */
    readonly onFault?: (thread: string, error: unknown) => void;
    /** How many tapes are read at once, at most: one, where whole threads are read anyway and memory counts. */
    readonly together?: number;
  } = {},
): AsyncGenerator<Tape> {
  const { onFault, together = TAPES } = options;
  let size = Math.min(FIRST_TAPES, together);
  for await (const page of directoryPages(context, options)) {
    yield* tapesOf(context, page, onFault, size, together);
    size = together;
  }
}

/** Yields the tapes of some threads, in their order; `first` are read first, then `together` at a time. */
async function* tapesOf(
  context: EngineContext,
  threads: readonly Listed[],
  onFault: ((thread: string, error: unknown) => void) | undefined,
  first: number,
  together: number,
): AsyncGenerator<Tape> {
  let size = first;
  for (let start = 0; start < threads.length; ) {
    const group = threads.slice(start, start + size);
    start += size;
    size = together;
    const ahead = await readTogether(context, group);
    for (const { id, value } of group) {
      let tape: Tape | undefined;
      try {
        const entry = decodeDirectory(value);
        if (entry.tape === undefined || entry.lineage === undefined) continue;
        tape =
          ahead?.get(tapeName(entry.lineage, entry.tape)) ??
          (await context.tapes.refresh(entry.tape, entry.lineage)) ??
          (await context.thread(id));
      } catch (error) {
        if (!onFault || !isCorrupt(error)) throw error;
        onFault(id, error);
      }
      if (tape && !tape.meta.dead && tape.meta.thread === id) yield tape;
    }
  }
}

/** Reads the tapes of some threads together; undefined where one is damaged: then each is read for its own fault. */
async function readTogether(
  context: EngineContext,
  threads: readonly Listed[],
): Promise<ReadonlyMap<string, Tape> | undefined> {
  try {
    const entries = threads.map(({ value }) => decodeDirectory(value));
    const sought = entries.flatMap(({ tape, lineage }) =>
      tape === undefined || lineage === undefined ? [] : [{ tape, lineage }],
    );
    const found = await context.tapes.refreshAll(sought);
    return new Map(found.flatMap((tape) => (tape ? [[tape.name, tape]] : [])));
  } catch (error) {
    return ifDamaged(error);
  }
}
