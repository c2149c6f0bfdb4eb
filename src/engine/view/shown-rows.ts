import type { Found, Read, Value } from "../../backend.ts";
import { lowerBound } from "../../model/seq.ts";
import type { EngineContext } from "../memory/context.ts";
import type { ForkChain, Tape } from "../memory/tape.ts";
import { rangeOf } from "../records/keys.ts";
import { decodeMeta, type Origin } from "../records/meta.ts";
import { sourceOf } from "./lineage/levels.ts";
import { inheritedNamespaces } from "./lineage/namespaces.ts";
import { type OnFault, ownRow, ownRows, PACKS_PER_READ } from "./lineage/own-rows.ts";
import { renew } from "./lineage/renew.ts";
import { homeOf, isPlain, NOW, rowAt, type Shown } from "./row-at.ts";

export interface ScanOptions {
  /** Only this namespace; all of them when absent. */
  readonly namespace?: string;
  readonly before?: number;
  readonly generation?: number;
  /** Packs that are probably needed: they are read at once. */
  readonly ahead?: number;
  /** Upper bound on packs in one read: small where all are gone through and memory counts. */
  readonly most?: number;
  /** Called for records of the thread's own tape that do not read, which are then left out. */
  readonly onFault?: OnFault;
}

/** Yields the rows a view shows, newest first. */
export async function* shownRows(context: EngineContext, tape: Tape, options: ScanOptions = {}): AsyncGenerator<Shown> {
  const generation = options.generation ?? NOW;
  let before = options.before ?? NOW;
  let level = tape;
  for (;;) {
    for await (const row of ownRows(context, level, before, options.onFault, options.ahead, options.most)) {
      if (options.namespace !== undefined && row.namespace !== options.namespace) continue;
      const shown = level === tape && isPlain(tape) ? row : await rowAt(context, tape, row.seq, generation);
      if (shown) yield shown;
    }
    const { origin } = level.meta;
    if (!origin) return;
    before = Math.min(before, origin.upTo + 1);
    if (origin.mode === "none") return;
    if (origin.mode === "chain") {
      if (options.ahead !== undefined) await readAhead(context, level, before, options.ahead);
      break;
    }
    level = await currentSource(context, level, origin);
  }
  const seqs =
    options.namespace === undefined
      ? await allInherited(context, level, before)
      : inheritedSeqs(context, level, options.namespace, before);
  for await (const seq of seqs) {
    const shown = await rowAt(context, tape, seq, generation);
    if (shown) yield shown;
  }
}

/** Reads the packs below `before` of the tapes that a fork inherits from, so that they are not read one by one. */
async function readAhead(context: EngineContext, tape: Tape, before: number, ahead: number): Promise<void> {
  const homes: Tape[] = [];
  const reads: Read[] = [];
  let to = before - 1;
  for (let level = tape; level.meta.origin && homes.length < PACKS_PER_READ; ) {
    const origin: Origin = level.meta.origin;
    to = Math.min(to, origin.upTo);
    level = await sourceOf(context, level, origin);
    homes.push(level);
    // The pack that `to` is in may end after it.
    reads.push({ scan: rangeOf(level, "rows", to), limit: 1 });
    reads.push({ scan: rangeOf(level, "rows", undefined, to), reverse: true, limit: Math.min(ahead, PACKS_PER_READ) });
    reads.push({ get: level.metaKey });
  }
  const answers = await context.read(reads);
  for (const [index, home] of homes.entries()) {
    const [around, below, meta] = answers.slice(3 * index) as [readonly Found[], readonly Found[], Value | undefined];
    if (home.readUnder(meta) === "older") continue;
    home.addPacks([...around, ...below]);
  }
}

/**
 * Yields the inherited seqs of a fork's namespace, newest first: the ancestors of where the fork begins there.
 * Remembered.
 */
export async function* inheritedSeqs(
  context: EngineContext,
  tape: Tape,
  namespace: string,
  before: number,
): AsyncGenerator<number> {
  const { origin } = tape.meta;
  if (!origin) return;
  let source = await sourceOf(context, tape, origin);
  let renewed = false;
  let below = before;
  let chain = tape.chains.get(namespace);
  if (!chain) {
    const begun = await beginning(context, tape, namespace);
    source = tape.source ?? source;
    // Another walk may have begun the same chain meanwhile.
    chain = tape.chains.get(namespace) ?? begun;
    tape.chains.set(namespace, chain);
  }
  let index = lowerBound(chain.seqs, -before + 1, (seq) => -seq);
  for (;;) {
    while (index >= chain.seqs.length) {
      if (chain.next === 0) return;
      const seq: number = chain.next;
      const link = await chainLink(context, source, tape.meta.origin ?? origin, seq);
      // Another walk of the same chain may have gone on meanwhile.
      if (chain.next !== seq) continue;
      if ((!link || isMixed(tape, chain.folds)) && !renewed) {
        // A compaction has removed the row, which was deleted before the fork, or has written other parents down. The
        // remaining rows and the fork's origin name other parents now.
        renewed = true;
        await renew(context, tape);
        source = tape.source ?? source;
        // Other walks may be on the old chain: its seqs must not move.
        chain = await beginning(context, tape, namespace);
        tape.chains.set(namespace, chain);
        index = 0;
        continue;
      }
      if (link?.shown) chain.seqs.push(seq);
      chain.next = link?.parent ?? 0;
    }
    const seq = chain.seqs[index] as number;
    index += 1;
    if (seq >= below) continue;
    below = seq;
    yield seq;
  }
}

async function beginning(context: EngineContext, tape: Tape, namespace: string): Promise<ForkChain> {
  const { folds } = tape.meta;
  return { seqs: [], next: await chainStart(context, tape, namespace), folds };
}

/** Tells whether the remembered tapes of a fork may be from before and after a compaction. */
function isMixed(tape: Tape, folds: number | undefined): boolean {
  if (tape.meta.folds !== folds) return true;
  for (let level = tape.source; level; level = level.source) {
    if (level.outdated || level.meta.folds !== folds) return true;
  }
  return false;
}

/**
 * Returns whether a fork's source shows a row, and where the fork's history leads on from it; undefined if there is no
 * such row.
 */
export async function chainLink(
  context: EngineContext,
  source: Tape,
  origin: Origin,
  seq: number,
): Promise<{ readonly shown: boolean; readonly parent: number } | undefined> {
  const shown = await rowAt(context, source, seq, origin.generation);
  const row = shown ?? (await ownRow(context, await homeOf(context, source, seq), seq));
  return row && { shown: shown !== undefined, parent: origin.parents?.[seq] ?? row.parent };
}

/**
 * Returns the tape a view builds on, as it is now. A row is found by its seq wherever it is, but a walk from row to row
 * has to know which rows are in the tail, and a compaction may have moved some back to it.
 */
async function currentSource(context: EngineContext, tape: Tape, origin: Origin): Promise<Tape> {
  const source = await context.tapes.refresh(origin.tape, tape.lineage);
  if (!source) return context.tapes.sourceOf(tape, origin);
  tape.source = source;
  return source;
}

/** Returns where a fork begins in a namespace: see {@link chainStarts}. */
async function chainStart(context: EngineContext, tape: Tape, namespace: string): Promise<number> {
  return (await chainStarts(context, tape, [namespace])).get(namespace) ?? 0;
}

/**
 * Returns where a fork begins in each namespace: in a nested one, with its last checkpoint before the source's root
 * went on from the fork's; 0 where there is none. A single walk finds it for all namespaces, of which a thread may have
 * thousands.
 */
export async function chainStarts(
  context: EngineContext,
  tape: Tape,
  namespaces: readonly string[] | ReadonlySet<string>,
): Promise<ReadonlyMap<string, number>> {
  const { origin } = tape.meta;
  const starts = await startsBy(context, tape, origin, namespaces);
  if (!origin || origin.limit !== undefined || !leadsAside(origin, namespaces)) return starts;
  // The row that delimits a fork may have been deleted since it was read. Its deletion writes the limit down.
  const [value] = (await context.read([{ get: tape.metaKey }])) as readonly [Value | undefined];
  const settled = value === undefined ? undefined : decodeMeta(value).origin;
  return settled?.limit === undefined ? starts : startsBy(context, tape, settled, namespaces);
}

/** Tells whether the fork's limit is needed to find where some of these begin. */
function leadsAside({ starts }: Origin, namespaces: Iterable<string>): boolean {
  for (const namespace of namespaces) if (namespace !== "" && starts?.[namespace] === undefined) return true;
  return false;
}

async function startsBy(
  context: EngineContext,
  tape: Tape,
  origin: Origin | undefined,
  namespaces: Iterable<string>,
): Promise<ReadonlyMap<string, number>> {
  const starts = new Map<string, number>();
  const sought = new Set<string>();
  for (const namespace of namespaces) {
    const known = !origin ? 0 : namespace === "" ? origin.at : origin.starts?.[namespace];
    if (known === undefined) sought.add(namespace);
    else starts.set(namespace, known);
  }
  if (!origin || sought.size === 0) return starts;
  const source = await currentSource(context, tape, origin);
  const before = await nestedLimit(context, origin, source);
  const [only] = sought;
  const one = sought.size === 1 && only !== undefined ? { namespace: only } : {};
  for await (const row of shownRows(context, source, { before, generation: origin.generation, ...one })) {
    if (!sought.delete(row.namespace)) continue;
    starts.set(row.namespace, row.seq);
    if (sought.size === 0) break;
  }
  for (const namespace of sought) starts.set(namespace, 0);
  return starts;
}

/** Returns the first seq that a fork does not show of nested namespaces. */
export async function nestedLimit(context: EngineContext, origin: Origin, source: Tape): Promise<number> {
  if (origin.limit !== undefined) return origin.limit;
  let limit = origin.upTo + 1;
  const before = limit;
  for await (const row of shownRows(context, source, { namespace: "", before, generation: origin.generation })) {
    if (row.seq <= origin.at) break;
    limit = row.seq;
  }
  return limit;
}

/** Returns all inherited seqs of a fork, of every namespace, newest first. */
async function allInherited(
  context: EngineContext,
  tape: Tape,
  before: number,
): Promise<readonly number[] | AsyncGenerator<number>> {
  const namespaces = await inheritedNamespaces(context, tape);
  if (namespaces.size === 1) return inheritedSeqs(context, tape, "", before);
  const { folds } = tape.meta;
  const unknown = [...namespaces].filter((namespace) => !tape.chains.has(namespace));
  for (const [namespace, next] of await chainStarts(context, tape, unknown)) {
    // Another walk may have begun the same chain meanwhile.
    if (!tape.chains.has(namespace)) tape.chains.set(namespace, { seqs: [], next, folds });
  }
  const seqs: number[] = [];
  for (const namespace of namespaces) {
    for await (const seq of inheritedSeqs(context, tape, namespace, before)) seqs.push(seq);
  }
  return seqs.sort((left, right) => right - left);
}
