import { ThreadmarkError } from "../../../src/errors.ts";
import type { Attributes } from "../../../src/model/attributes.ts";
import type { Checkpoint, Write } from "../../../src/model/checkpoint.ts";
import type { CheckpointRef } from "../../../src/model/interface/options.ts";

export type Namespace = readonly string[];

/** A namespace of a thread: whole checkpoints in the order of their seqs, and all writes. */
export interface Line {
  readonly namespace: Namespace;
  checkpoints: readonly Checkpoint[];
  /** By checkpoint id, then in reading order. */
  readonly writes: Map<string, readonly Write[]>;
}

/** A thread as design.md describes it, kept whole and never shared: nothing here is ever changed in place. */
export interface NaiveThread {
  readonly id: string;
  readonly lines: Map<string, Line>;
  readonly forkedFrom: { readonly thread: string; readonly checkpoint: string | null } | null;
  /** The greatest seq ever committed, also of what has been deleted since. */
  lastSeq: number;
  /** Seqs of root checkpoints that were deleted, or left behind by a fork: they may bound a later fork or not. */
  hiddenRoots: readonly number[];
  attributes: Attributes;
  due: number | null;
  /** When it was made, for a fork or a copy, and the greatest seq that it had inherited by then. */
  forkedAt: number;
  inherited: number;
}

export function newThread(id: string, forkedFrom: NaiveThread["forkedFrom"] = null): NaiveThread {
  const found = { attributes: {}, due: null, forkedAt: 0, inherited: Number.NEGATIVE_INFINITY };
  return { id, lines: new Map(), forkedFrom, lastSeq: Number.NEGATIVE_INFINITY, hiddenRoots: [], ...found };
}

export function lineOf(thread: NaiveThread, namespace: Namespace): Line {
  const key = JSON.stringify(namespace);
  const found = thread.lines.get(key);
  if (found !== undefined) return found;
  const fresh: Line = { namespace, checkpoints: [], writes: new Map() };
  thread.lines.set(key, fresh);
  return fresh;
}

export function find(line: Line, ref: CheckpointRef): Checkpoint {
  const wanted: Partial<Checkpoint> = typeof ref === "string" ? { id: ref } : ref;
  const [[name, value]] = Object.entries(wanted) as [[keyof Checkpoint, unknown]];
  const found = line.checkpoints.findLast((one) => one[name] === value);
  if (found === undefined) throw new ThreadmarkError("NOT_FOUND", `no checkpoint ${JSON.stringify(ref)}`);
  return found;
}

/** A checkpoint and all its ancestors, in the order of their seqs. */
export function lineage(line: Line, tip: Checkpoint): readonly Checkpoint[] {
  const chain = [tip];
  for (let parent = tip.parent; parent !== null; ) {
    const one = find(line, parent);
    chain.unshift(one);
    parent = one.parent;
  }
  return chain;
}

export function countOf(thread: NaiveThread): number {
  return [...thread.lines.values()].reduce((sum, line) => sum + line.checkpoints.length, 0);
}

/** The root's head, or that of the namespace committed last when the root is empty. */
export function headOf(thread: NaiveThread): Checkpoint {
  const heads = [...thread.lines.values()].map(({ checkpoints }) => checkpoints.at(-1));
  const root = lineOf(thread, []).checkpoints.at(-1);
  const last = heads.filter((one) => one !== undefined).sort((left, right) => right.seq - left.seq)[0];
  const head = root ?? last;
  if (head === undefined) throw new Error(`thread ${thread.id} is empty`);
  return head;
}

/** Removes checkpoints from a line, and their writes; a child whose parent went follows the nearest that remains. */
export function remove(thread: NaiveThread, line: Line, doomed: ReadonlySet<string>): number {
  const gone = line.checkpoints.filter(({ id }) => doomed.has(id));
  const parents = new Map(line.checkpoints.map(({ id, parent }) => [id, parent]));
  const remaining = (id: string | null): string | null => {
    let parent = id;
    while (parent !== null && doomed.has(parent)) parent = parents.get(parent) ?? null;
    return parent;
  };
  line.checkpoints = line.checkpoints
    .filter(({ id }) => !doomed.has(id))
    .map((one) => (one.parent === remaining(one.parent) ? one : { ...one, parent: remaining(one.parent) }));
  for (const { id } of gone) line.writes.delete(id);
  if (line.namespace.length === 0) thread.hiddenRoots = [...thread.hiddenRoots, ...gone.map(({ seq }) => seq)];
  return gone.length;
}
