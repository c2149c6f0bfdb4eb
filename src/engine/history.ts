import type { Value } from "../backend.ts";
import type { HistoryOptions } from "../model/arguments.ts";
import type { Checkpoint, CheckpointInfo } from "../model/checkpoint.ts";
import { aheadOfHistory } from "./ahead.ts";
import type { Engine } from "./engine.ts";
import { findById, headOf } from "./find.ts";
import { notFound } from "./missing.ts";
import { loadPage, PAGE_ROWS, pagesOf, type SharedTree } from "./page.ts";
import { checkpointOf, infoOf, type Place, parentId } from "./read.ts";
import type { Tape } from "./tape.ts";
import { rowAt, type Shown, shownRows } from "./view.ts";

/** Who does not say how many is given few at first, then more at a time. */
const FIRST_PAGE = 8;

/** The checkpoints of a namespace, newest first. Reads only about as far as it is asked to. */
export async function* historyOf(
  engine: Engine,
  place: Place,
  namespace: string,
  options: HistoryOptions,
): AsyncGenerator<CheckpointInfo | Checkpoint> {
  const ahead = aheadOfHistory(engine, options.before, options.limit);
  const tape = await engine.track(() => engine.thread(place.thread, ahead));
  if (tape) ahead.settle(tape);
  const before = await engine.track(() => startOf(engine, tape, place.thread, namespace, options.before));
  if (!tape) return;
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  if (left <= 0) return;
  const packs = Number.isFinite(left) && options.run === undefined ? Math.ceil(left / PAGE_ROWS) + 1 : undefined;
  const rows = shownRows(engine, tape, {
    namespace,
    ...(before !== undefined && { before }),
    ...(packs !== undefined && packs > 2 && { ahead: packs }),
  });
  const wanted = (row: Shown): boolean =>
    (options.run === undefined || row.run === options.run) &&
    (options.source === undefined || row.source === options.source);
  const pages = pagesOf(rows, wanted, options.limit ?? FIRST_PAGE);
  for (;;) {
    const next = await engine.track(() => pages.next());
    if (next.done) return;
    const seen = tape.metaValue;
    const page = next.value;
    const trees = options.states ? await engine.track(() => loadPage(engine, tape, page.slice(0, left))) : undefined;
    for (const [index, row] of page.entries()) {
      const shown =
        (trees ? undefined : showAtOnce(engine, place, seen, row, page[index + 1])) ??
        (await engine.track(() => show({ engine, tape, place, seen, trees }, row)));
      if (!shown) continue;
      yield shown;
      left -= 1;
      if (left <= 0) return;
    }
  }
}

/** A page of rows that were found when the tape's meta record was `seen`; with their trees where states are asked for. */
interface FoundPage {
  readonly engine: Engine;
  readonly tape: Tape;
  readonly place: Place;
  readonly seen: Value;
  readonly trees: ReadonlyMap<number, SharedTree> | undefined;
}

/** What most rows of a history are: nothing has changed since they were found, and the parent is the next one. */
function showAtOnce(
  engine: Engine,
  place: Place,
  seen: Value,
  row: Shown,
  next: Shown | undefined,
): CheckpointInfo | undefined {
  if (engine.closed || row.replacedBy !== undefined) return undefined;
  if (row.parent !== 0 && row.parent !== next?.seq) return undefined;
  if (engine.rememberedThread(place.thread)?.metaValue !== seen) return undefined;
  return infoOf(engine, place, row, row.parent === 0 ? null : (next as Shown).id);
}

async function show(page: FoundPage, row: Shown): Promise<CheckpointInfo | Checkpoint | undefined> {
  const { engine, place, seen, trees } = page;
  let { tape } = page;
  let shown: Shown | undefined = row;
  // Since the page was found this process may have deleted some of it, or others have, as far as is known.
  if (engine.rememberedThread(place.thread)?.metaValue !== seen) {
    const now = await engine.thread(place.thread);
    if (!now) return undefined;
    if (now.metaValue !== seen) {
      tape = now;
      shown = await rowAt(engine, tape, row.seq);
    }
  }
  if (!shown) return undefined;
  if (!trees) return infoOf(engine, place, shown, await parentId(engine, tape, shown));
  const usable = shown.replacedBy === undefined && tape.meta.folds === page.tape.meta.folds;
  return checkpointOf(engine, tape, place, shown, usable ? { ready: trees.get(row.seq) } : {});
}

async function startOf(
  engine: Engine,
  tape: Tape | undefined,
  thread: string,
  namespace: string,
  before: string | number | undefined,
): Promise<number | undefined> {
  if (typeof before !== "string") return before;
  const row = tape && (await findById(engine, tape, namespace, before));
  if (!row) throw notFound(thread, before);
  return row.seq;
}

/** The greatest step, ties to the last committed. */
export async function latestByStep(engine: Engine, tape: Tape, namespace: string): Promise<Shown | undefined> {
  let best: Shown | undefined = await headOf(engine, tape, namespace);
  for await (const row of shownRows(engine, tape, { namespace })) if (best && row.step > best.step) best = row;
  return best;
}

/**
 * The greatest id, of those the thread itself committed: a fork goes on from where it was made. Nearly always that is the
 * head, which is told without reading on.
 */
export async function latestById(engine: Engine, tape: Tape, namespace: string): Promise<Shown | undefined> {
  const head = await headOf(engine, tape, namespace);
  const inherited = tape.meta.origin?.upTo ?? 0;
  if (!head || head.seq <= inherited) return head;
  const { greatestId } = tape.meta;
  const sealedBelow = greatestId === undefined || greatestId <= head.id;
  if (sealedBelow && tape.tail.every(({ row }) => row.namespace !== namespace || row.id <= head.id)) return head;
  let best = head;
  for await (const row of shownRows(engine, tape, { namespace })) {
    if (row.seq <= inherited) break;
    if (row.id > best.id) best = row;
  }
  return best;
}

/** How many checkpoints a thread shows: of one namespace, or of all. */
export async function countOf(engine: Engine, tape: Tape, namespace: string | undefined): Promise<number> {
  if (namespace === undefined && !tape.meta.origin) return tape.count - tape.meta.removed;
  let count = 0;
  for await (const _ of shownRows(engine, tape, namespace === undefined ? {} : { namespace })) count += 1;
  return count;
}

/** The namespaces in which a thread shows a checkpoint, as keys. */
export async function namespacesOf(engine: Engine, tape: Tape): Promise<ReadonlySet<string>> {
  const namespaces = new Set<string>();
  for await (const row of shownRows(engine, tape)) namespaces.add(row.namespace);
  return namespaces;
}
