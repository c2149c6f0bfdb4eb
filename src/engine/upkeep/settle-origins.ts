import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import type { Origin } from "../records/meta.ts";
import { nearestRemaining } from "../removal/nearest-remaining.ts";
import { type RemovedRows, TapeRows } from "../removal/removed-rows.ts";
import { levels } from "../view/lineage/levels.ts";
import { inheritedNamespaces } from "../view/lineage/namespaces.ts";
import { ownRow } from "../view/lineage/own-rows.ts";
import { homeOf } from "../view/row-at.ts";
import { chainLink, chainStarts, nestedLimit } from "../view/shown-rows.ts";
import type { Folds } from "./fold-marks.ts";

/**
 * Returns the origin of a fork with everything written down that only removed rows and marks record; the given origin if
 * nothing has to be. A removed row may have two parents: the one its frame builds on, and the one a replacement shows to the
 * fork. Rebasing keeps the first, so the second is written into the origin.
 */
export async function settledOrigin(
  context: EngineContext,
  fork: Tape,
  origin: Origin,
  doomed: RemovedRows,
  folds: Folds,
): Promise<Origin> {
  if (origin.mode !== "chain") return origin;
  const source = await context.tapes.sourceOf(fork, origin);
  const limited =
    origin.limit === undefined ? { ...origin, limit: await nestedLimit(context, origin, source) } : origin;
  if (!(await mayLeadElsewhere(context, fork, origin, doomed))) return limited;
  return new Settlement(context, fork, source, limited, doomed, folds).run();
}

/** Resolves to true if a row that a fork may have inherited is removed, or was ever replaced. */
async function mayLeadElsewhere(
  context: EngineContext,
  fork: Tape,
  { upTo }: Origin,
  doomed: RemovedRows,
): Promise<boolean> {
  for await (const { tape: level } of levels(context, fork)) {
    if (level === fork) continue;
    const seqs = [...level.marks.keys(), ...(doomed.get(level.number) ?? [])];
    if (seqs.some((seq) => seq <= upTo)) return true;
  }
  return false;
}

/** Follows a fork's history from where it begins, as the fork does, and compares it with what will be left to follow. */
class Settlement {
  readonly #context: EngineContext;
  readonly #fork: Tape;
  readonly #source: Tape;
  readonly #origin: Origin;
  readonly #doomed: RemovedRows;
  readonly #folds: Folds;

  constructor(context: EngineContext, fork: Tape, source: Tape, origin: Origin, doomed: RemovedRows, folds: Folds) {
    this.#context = context;
    this.#fork = fork;
    this.#source = source;
    this.#origin = origin;
    this.#doomed = doomed;
    this.#folds = folds;
  }

  async run(): Promise<Origin> {
    const before = this.#origin;
    const starts: { [namespace: string]: number } = { ...before.starts };
    const parents: { [seq: string]: number } = {};
    let { at } = before;
    const namespaces = await inheritedNamespaces(this.#context, this.#fork);
    for (const [namespace, start] of await chainStarts(this.#context, this.#fork, namespaces)) {
      const first = await this.#remaining(start);
      if (namespace === "") at = first;
      else if (first !== start) starts[namespace] = first;
      await this.#addParents(first, parents);
    }
    const said = JSON.stringify([before.at, before.starts ?? {}, before.parents ?? {}]);
    if (said === JSON.stringify([at, starts, parents])) return before;
    const { starts: _starts, parents: _parents, ...rest } = before;
    return {
      ...rest,
      at,
      ...(Object.keys(starts).length > 0 && { starts }),
      ...(Object.keys(parents).length > 0 && { parents }),
    };
  }

  async #addParents(first: number, parents: { [seq: string]: number }): Promise<void> {
    for (let seq = first; seq !== 0; ) {
      const leads = await this.#remaining(await this.#parent(seq));
      if (leads !== (await this.#parentAfterwards(seq))) parents[seq] = leads;
      seq = leads;
    }
  }

  /** Returns the first row that stays, from `from` on, as the fork follows them. */
  async #remaining(from: number): Promise<number> {
    let seq = from;
    while (seq !== 0 && this.#doomed.get((await homeOf(this.#context, this.#fork, seq)).number)?.has(seq)) {
      seq = await this.#parent(seq);
    }
    return seq;
  }

  async #parent(seq: number): Promise<number> {
    return (await chainLink(this.#context, this.#source, this.#origin, seq))?.parent ?? 0;
  }

  /** Returns the parent that the marks and frames that stay will give. */
  async #parentAfterwards(seq: number): Promise<number> {
    const link = await chainLink(this.#context, this.#source, this.#origin, seq);
    const marked = link?.shown ? await this.#markedParent(seq) : undefined;
    const frame = await ownRow(this.#context, await homeOf(this.#context, this.#fork, seq), seq);
    const reachable = new TapeRows(this.#context, this.#source, this.#doomed);
    return nearestRemaining(reachable, marked ?? frame?.parent ?? 0);
  }

  async #markedParent(seq: number): Promise<number | undefined> {
    const { generation: last } = this.#origin;
    for await (const { tape: level, generation } of levels(this.#context, this.#source, seq, last)) {
      const seen = (level.marks.get(seq) ?? []).filter((version) => version.generation <= generation);
      const row = seen.findLast((version) => version.row !== undefined && this.#folds.stays(version))?.row;
      if (row) return row.parent ?? 0;
    }
    return undefined;
  }
}
