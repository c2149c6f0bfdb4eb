import type { Value } from "../../backend.ts";
import type { HistoryOptions } from "../../model/arguments.ts";
import type { Checkpoint, CheckpointInfo } from "../../model/checkpoint.ts";
import { nextTurn } from "../../platform/turns.ts";
import { loadPage, PAGE_ROWS, pagesOf, type SharedTree } from "../bodies/load-page.ts";
import { notFound } from "../faults/missing.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { ownRowAtHand, rowsAtHand } from "../view/at-hand.ts";
import { findById, headOf } from "../view/find.ts";
import { isPlain, NOW, rowAt, type Shown } from "../view/row-at.ts";
import { sealedHead } from "../view/sealed-head.ts";
import { shownRows } from "../view/shown-rows.ts";
import { checkpointOf, infoOf, type Place, parentId } from "./checkpoint.ts";
import { aheadOfHistory } from "./read-ahead.ts";
import { END, type Source, Stepwise } from "./stepwise.ts";

/** Who does not say how many is given few at first, then more at a time. */
const FIRST_PAGE = 8;

/** The checkpoints of a namespace, newest first. Reads only about as far as it is asked to. */
export function historyOf(
  context: Context,
  place: Place,
  namespace: string,
  options: HistoryOptions,
): AsyncGenerator<CheckpointInfo | Checkpoint> {
  return new Stepwise(new History(context, place, namespace, options));
}

/** A page of rows that were found when the tape's meta record was `seen`; with their trees where states are asked for. */
interface FoundPage {
  readonly tape: Tape;
  readonly rows: readonly Shown[];
  readonly seen: Value;
  readonly trees: ReadonlyMap<number, SharedTree> | undefined;
}

class History implements Source<CheckpointInfo | Checkpoint> {
  readonly #context: Context;
  readonly #place: Place;
  readonly #namespace: string;
  readonly #options: HistoryOptions;
  #tape: Tape | undefined;
  #page: FoundPage | undefined;
  /** Of the page's rows, how many were gone through. */
  #seen = 0;
  /** Rows below this seq are still to be found. */
  #below = NOW;
  /** Of the next page. */
  #size: number;
  /** Those that have to be read. */
  #further: AsyncGenerator<readonly Shown[]> | undefined;
  #left: number;

  constructor(context: Context, place: Place, namespace: string, options: HistoryOptions) {
    this.#context = context;
    this.#place = place;
    this.#namespace = namespace;
    this.#options = options;
    this.#left = options.limit ?? Number.POSITIVE_INFINITY;
    this.#size = Math.min(options.limit ?? FIRST_PAGE, PAGE_ROWS);
  }

  atHand(): IteratorResult<CheckpointInfo | Checkpoint, undefined> | undefined {
    const page = this.#page;
    if (!page) return undefined;
    if (this.#left <= 0) return END;
    const row = page.rows[this.#seen];
    const value = row && !page.trees ? this.#showAtOnce(page, row) : undefined;
    if (!value) return undefined;
    this.#seen += 1;
    this.#left -= 1;
    return { done: false, value };
  }

  async find(): Promise<IteratorResult<CheckpointInfo | Checkpoint, undefined>> {
    const context = this.#context;
    for (;;) {
      const page = this.#page;
      const row = page?.rows[this.#seen];
      if (!row) {
        if (page?.rows.length === PAGE_ROWS) await nextTurn();
        this.#page = await context.calls.track(() => this.#nextPage());
        if (!this.#page || this.#left <= 0) return END;
        this.#seen = 0;
        const first = this.atHand();
        if (first) return first;
        continue;
      }
      this.#seen += 1;
      const value = await context.calls.track(() => this.#show(page as FoundPage, row));
      if (!value) continue;
      this.#left -= 1;
      return { done: false, value };
    }
  }

  async #nextPage(): Promise<FoundPage | undefined> {
    this.#tape ??= await this.#begin();
    const tape = this.#tape;
    if (!tape) return undefined;
    const rows = this.#rowsAtHand(tape) ?? (await this.#readRows(tape));
    const last = rows.at(-1);
    if (!last) return undefined;
    this.#below = last.seq;
    this.#size = Math.min(this.#size * 4, PAGE_ROWS);
    const seen = tape.metaValue;
    const trees = this.#options.states ? await loadPage(this.#context, tape, rows.slice(0, this.#left)) : undefined;
    return { tape, rows, seen, trees };
  }

  async #begin(): Promise<Tape | undefined> {
    const { thread } = this.#place;
    const { before, limit } = this.#options;
    const ahead = aheadOfHistory(this.#context, before, limit);
    const tape = await this.#context.thread(thread, ahead);
    if (tape) ahead.settle(tape);
    if (typeof before === "string") this.#below = await startOf(this.#context, tape, thread, this.#namespace, before);
    else this.#below = before ?? NOW;
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

  async #readRows(tape: Tape): Promise<readonly Shown[]> {
    this.#further ??= pagesOf(this.#rest(tape), this.#wanted, this.#size);
    const { done, value } = await this.#further.next();
    return done ? [] : value;
  }

  #rest(tape: Tape): AsyncGenerator<Shown> {
    const most = this.#options.run === undefined ? this.#left : Number.POSITIVE_INFINITY;
    const packs = Number.isFinite(most) ? Math.ceil(most / PAGE_ROWS) + 1 : 0;
    return shownRows(this.#context, tape, {
      namespace: this.#namespace,
      before: this.#below,
      ...(packs > 2 && { ahead: packs }),
    });
  }

  /** What most rows of a history are: nothing has changed since they were found, and the parent is in memory. */
  #showAtOnce({ rows, seen }: FoundPage, row: Shown): CheckpointInfo | undefined {
    const context = this.#context;
    if (context.calls.closed || row.replacedBy !== undefined) return undefined;
    const tape = context.rememberedThread(this.#place.thread);
    if (tape?.metaValue !== seen) return undefined;
    if (row.parent === 0) return infoOf(context, this.#place, row, null);
    const next = rows[this.#seen + 1];
    const parent = next?.seq === row.parent ? next : isPlain(tape) ? ownRowAtHand(tape, row.parent) : undefined;
    return parent && infoOf(context, this.#place, row, parent.id);
  }

  async #show(page: FoundPage, row: Shown): Promise<CheckpointInfo | Checkpoint | undefined> {
    const { seen, trees } = page;
    const context = this.#context;
    const place = this.#place;
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
    const isLast = this.#seen === page.rows.length;
    return checkpointOf(context, tape, place, shown, { ready: tree && isLast ? { ...tree, owned: true } : tree });
  }
}

async function startOf(
  context: Context,
  tape: Tape | undefined,
  thread: string,
  namespace: string,
  before: string,
): Promise<number> {
  const row = tape && (await findById(context, tape, namespace, before));
  if (!row) throw notFound(thread, before);
  return row.seq;
}

/** The greatest step, ties to the last committed. */
export async function latestByStep(context: Context, tape: Tape, namespace: string): Promise<Shown | undefined> {
  let best: Shown | undefined = await headOf(context, tape, namespace);
  for await (const row of shownRows(context, tape, { namespace })) if (best && row.step > best.step) best = row;
  return best;
}

/**
 * The greatest id, of those the thread itself committed: a fork goes on from where it was made. Nearly always that is the
 * head, which is told without reading on.
 */
export async function latestById(context: Context, tape: Tape, namespace: string): Promise<Shown | undefined> {
  const head = await headOf(context, tape, namespace);
  const inherited = tape.meta.origin?.upTo ?? 0;
  if (!head || head.seq <= inherited) return head;
  const isGreatest = tape.tail.every(({ row }) => row.namespace !== namespace || row.id <= head.id);
  if (isGreatest && (await sealedBelow(context, tape, namespace, head.id))) return head;
  let best = head;
  for await (const row of shownRows(context, tape, { namespace })) {
    if (row.seq <= inherited) break;
    if (row.id > best.id) best = row;
  }
  return best;
}

/** Whether an id is greater than all that were sealed, as far as that is known without looking at each. */
async function sealedBelow(context: Context, tape: Tape, namespace: string, id: string): Promise<boolean> {
  const { greatestId } = tape.meta;
  if (greatestId === undefined || greatestId <= id) return true;
  if (namespace === "") return false;
  const sealed = await sealedHead(context, tape, namespace);
  return sealed === undefined || (sealed.greatestId !== undefined && sealed.greatestId <= id);
}

/** The namespaces in which a thread shows a checkpoint, as keys. */
export async function namespacesOf(context: Context, tape: Tape): Promise<ReadonlySet<string>> {
  const namespaces = new Set<string>();
  for await (const row of shownRows(context, tape)) namespaces.add(row.namespace);
  return namespaces;
}
