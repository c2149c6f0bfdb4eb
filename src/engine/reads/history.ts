import type { Value } from "../../backend.ts";
import type { Checkpoint, CheckpointInfo } from "../../model/checkpoint.ts";
import type { HistoryOptions } from "../../model/interface/options.ts";
import { nextTurn } from "../../platform/turns.ts";
import { loadPage, PAGE_ROWS, pagesOf, type SharedTree } from "../bodies/load-page.ts";
import { notFound } from "../faults/missing.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { findRef } from "../view/find-ref.ts";
import { ownRowAtHand, rowsAtHand } from "../view/lineage/at-hand.ts";
import { isPlain, NOW, rowAt, type Shown } from "../view/row-at.ts";
import { shownRows } from "../view/shown-rows.ts";
import { checkpointOf, infoOf, type Place, parentId } from "./checkpoint.ts";
import { aheadOfHistory } from "./read-ahead.ts";

/** The size of the first page where the caller gives no limit; pages then grow to PAGE_ROWS. */
const FIRST_PAGE = 8;

/** Yields the checkpoints of a namespace, newest first. Reads only about as far as it is asked to. */
export async function* historyOf(
  context: EngineContext,
  place: Place,
  namespace: string,
  options: HistoryOptions,
): AsyncGenerator<CheckpointInfo | Checkpoint> {
  const { signal } = options;
  const pages = new Pages(context, place, namespace, options);
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  for (;;) {
    signal?.throwIfAborted();
    const page = await context.calls.track(() => pages.next(left));
    if (!page || left <= 0) return;
    for (const row of page.rows) {
      signal?.throwIfAborted();
      // Nothing is awaited that is at hand: a turn of the event loop costs more than a row.
      const shown =
        showAtHand(context, place, page, row) ?? (await context.calls.track(() => show(context, place, page, row)));
      if (!shown) continue;
      yield shown;
      left -= 1;
      if (left <= 0) return;
    }
    if (page.rows.length === PAGE_ROWS) await nextTurn();
  }
}

/** A page of rows that were found when the tape's meta record was `seen`; with their trees where states are asked for. */
interface FoundPage {
  readonly tape: Tape;
  readonly rows: readonly Shown[];
  readonly seen: Value;
  readonly trees: ReadonlyMap<number, SharedTree> | undefined;
}

/** The pages of a history: from memory as far as that goes, then from storage. */
class Pages {
  readonly #context: EngineContext;
  readonly #place: Place;
  readonly #namespace: string;
  readonly #options: HistoryOptions;
  #tape: Tape | undefined;
  /** Rows below this seq are still to be found. */
  #below = NOW;
  /** How many rows the next page has. */
  #size: number;
  /** The pages that have to be read, once memory has no more. */
  #further: AsyncGenerator<readonly Shown[]> | undefined;

  constructor(context: EngineContext, place: Place, namespace: string, options: HistoryOptions) {
    this.#context = context;
    this.#place = place;
    this.#namespace = namespace;
    this.#options = options;
    this.#size = Math.min(options.limit ?? FIRST_PAGE, PAGE_ROWS);
  }

  /** Finds the next page, of which `left` rows are wanted at most; undefined at the end. */
  async next(left: number): Promise<FoundPage | undefined> {
    this.#tape ??= await this.#begin();
    const tape = this.#tape;
    if (!tape) return undefined;
    const rows = this.#rowsAtHand(tape) ?? (await this.#readRows(tape, left));
    const last = rows.at(-1);
    if (!last) return undefined;
    this.#below = last.seq;
    this.#size = Math.min(this.#size * 4, PAGE_ROWS);
    const seen = tape.metaValue;
    const trees = this.#options.states ? await loadPage(this.#context, tape, rows.slice(0, left)) : undefined;
    return { tape, rows, seen, trees };
  }

  async #begin(): Promise<Tape | undefined> {
    const { thread } = this.#place;
    const { before, limit } = this.#options;
    const seq = typeof before === "object" && "seq" in before ? before.seq : before;
    const ahead = aheadOfHistory(this.#context, typeof seq === "object" ? undefined : seq, limit);
    const tape = await this.#context.thread(thread, ahead);
    if (tape) ahead.settle(tape);
    if (seq === undefined || typeof seq === "number") this.#below = seq ?? NOW;
    else {
      const row = tape && (await findRef(this.#context, tape, this.#namespace, seq));
      if (!row) throw notFound(thread, seq);
      this.#below = row.seq;
    }
    return tape;
  }

  readonly #wanted = ({ run, source }: Shown): boolean =>
    (this.#options.run === undefined || run === this.#options.run) &&
    (this.#options.source === undefined || source === this.#options.source);

  #rowsAtHand(tape: Tape): readonly Shown[] | undefined {
    if (this.#further || !isPlain(tape)) return undefined;
    const namespace = this.#namespace;
    return rowsAtHand(tape, this.#below, this.#size, (row) => row.namespace === namespace && this.#wanted(row));
  }

  async #readRows(tape: Tape, left: number): Promise<readonly Shown[]> {
    this.#further ??= pagesOf(this.#rest(tape, left), this.#wanted, this.#size);
    const { done, value } = await this.#further.next();
    return done ? [] : value;
  }

  #rest(tape: Tape, left: number): AsyncGenerator<Shown> {
    const most = this.#options.run === undefined ? left : Number.POSITIVE_INFINITY;
    const packs = Number.isFinite(most) ? Math.ceil(most / PAGE_ROWS) + 1 : 0;
    return shownRows(this.#context, tape, {
      namespace: this.#namespace,
      before: this.#below,
      ...(packs > 2 && { ahead: packs }),
    });
  }
}

/** Shows a row that is as it was when its page was found and whose parent is in memory; undefined for any other row. */
function showAtHand(context: EngineContext, place: Place, page: FoundPage, row: Shown): CheckpointInfo | undefined {
  if (page.trees || row.replacedBy !== undefined || context.calls.closed) return undefined;
  const { tape } = page;
  if (tape.metaValue !== page.seen || !context.isRemembered(tape)) return undefined;
  if (row.parent === 0) return infoOf(context, place, row, null);
  const parent = isPlain(tape) ? ownRowAtHand(tape, row.parent) : undefined;
  return parent && infoOf(context, place, row, parent.id);
}

/** Shows a row of a page as the thread has it now; undefined if it was deleted since the page was found. */
async function show(
  context: EngineContext,
  place: Place,
  page: FoundPage,
  row: Shown,
): Promise<CheckpointInfo | Checkpoint | undefined> {
  const { seen, trees } = page;
  let { tape } = page;
  let shown: Shown | undefined = row;
  // Since the page was found this process may have deleted some of it, or others have, as far as is known.
  if (context.rememberedThread(place.thread)?.metaValue !== seen) {
    const now = await context.thread(place.thread);
    if (!now) return undefined;
    if (now.metaValue !== seen) {
      tape = now;
      shown = await rowAt(context, tape, row.seq);
    }
  }
  if (!shown) return undefined;
  if (!trees) return infoOf(context, place, shown, await parentId(context, tape, shown));
  const usable = shown.replacedBy === undefined && tape.meta.folds === page.tape.meta.folds;
  const tree = usable ? trees.get(row.seq) : undefined;
  // The others of the page have been given out, as copies: the last one's tree is the caller's own.
  const isLast = row === page.rows.at(-1);
  return checkpointOf(context, tape, place, shown, { ready: tree && isLast ? { ...tree, owned: true } : tree });
}
