import { ThreadmarkError } from "../../../src/errors.ts";
import type { Checkpoint } from "../../../src/model/checkpoint.ts";
import type { ForkOptions } from "../../../src/model/interface/options.ts";
import { clone } from "../clone.ts";
import { updated } from "./put.ts";
import { find, type Line, lineage, lineOf, type NaiveThread, newThread } from "./thread.ts";

type Free = Record<string, unknown>;

/** The checkpoint a fork starts from. */
export function chosen(source: NaiveThread, at: ForkOptions<Free>["at"]): Checkpoint {
  const line = lineOf(source, []);
  if (at !== undefined) return find(line, at);
  const found = line.checkpoints.at(-1);
  if (found === undefined) throw new ThreadmarkError("NOT_FOUND", "nothing to fork");
  return found;
}

/**
 * Returns the checkpoints of a nested namespace that a fork shows: the ancestors of its last one before the root's next
 * commit.
 */
function nestedShown(line: Line, bound: number): readonly Checkpoint[] {
  const last = line.checkpoints.findLast(({ seq }) => seq < bound);
  return last === undefined ? [] : lineage(line, last);
}

/** The seq of the root's next commit after a checkpoint. */
function boundAfter(seqs: readonly number[], at: number): number {
  return Math.min(Number.POSITIVE_INFINITY, ...seqs.filter((seq) => seq > at));
}

/**
 * Whether it matters for a fork that a root checkpoint after `at` was deleted, or left behind by an earlier fork: the
 * design speaks of what the root committed, and does not say whether that includes what nobody can see any more.
 */
export function isAmbiguous(source: NaiveThread, at: Checkpoint): boolean {
  const visible = lineOf(source, []).checkpoints.map(({ seq }) => seq);
  const bounds = [boundAfter(visible, at.seq), boundAfter([...visible, ...source.hiddenRoots], at.seq)] as const;
  return [...source.lines.values()].some(
    (line) => line.namespace.length > 0 && nestedShown(line, bounds[0]).at(-1) !== nestedShown(line, bounds[1]).at(-1),
  );
}

export interface ForkAssigned {
  readonly thread: string;
  readonly now: number;
  /** Id, seq and time of the checkpoint that the fork adds, if it adds one. */
  readonly top?: { readonly id: string; readonly seq: number; readonly createdAt: number };
}

/** Makes a thread that shows a checkpoint and its ancestors, with whole copies of everything. */
export function fork(source: NaiveThread, options: ForkOptions<Free>, assigned: ForkAssigned): NaiveThread {
  const at = chosen(source, options.at);
  const made = newThread(assigned.thread, { thread: source.id, checkpoint: at.id });
  const alone = options.history === "none";
  const roots = lineOf(source, []);
  const bound = boundAfter(
    roots.checkpoints.map(({ seq }) => seq),
    at.seq,
  );
  for (const line of source.lines.values()) {
    const shown = line === roots ? lineage(roots, at) : nestedShown(line, bound);
    if (!alone) show(made, line, shown);
  }
  if (options.label !== undefined && !alone && options.edits === undefined) {
    const line = lineOf(made, []);
    const label = options.label;
    line.checkpoints = line.checkpoints.map((one) => (one.id === at.id ? { ...one, label } : one));
  }
  if (!alone) {
    const shown = new Set(lineOf(made, []).checkpoints.map(({ seq }) => seq));
    const left = roots.checkpoints.map(({ seq }) => seq).filter((seq) => !shown.has(seq));
    made.hiddenRoots = [...source.hiddenRoots, ...left];
  }
  made.inherited = lastSeqOf(made);
  const { top } = assigned;
  if (top !== undefined) {
    const line = lineOf(made, []);
    const checkpoint: Checkpoint = {
      ...at,
      ...top,
      thread: made.id,
      parent: alone ? null : at.id,
      source: "fork",
      label: options.label ?? `fork-of:${source.id}`,
      state: options.edits === undefined ? at.state : updated(at.state, { set: clone(options.edits) }),
    };
    line.checkpoints = [...line.checkpoints, checkpoint];
  }
  made.lastSeq = lastSeqOf(made);
  made.attributes = source.attributes;
  made.forkedAt = assigned.now;
  return made;
}

/** All checkpoints and writes, under another name. */
export function copy(source: NaiveThread, into: string, now: number): NaiveThread {
  const made = newThread(into, { thread: source.id, checkpoint: null });
  for (const line of source.lines.values()) show(made, line, line.checkpoints);
  made.lastSeq = lastSeqOf(made);
  made.inherited = made.lastSeq;
  made.hiddenRoots = source.hiddenRoots;
  made.attributes = source.attributes;
  made.forkedAt = now;
  return made;
}

function show(made: NaiveThread, line: Line, shown: readonly Checkpoint[]): void {
  const target = lineOf(made, line.namespace);
  target.checkpoints = shown.map((one) => ({ ...one, thread: made.id }));
  for (const { id } of shown) {
    const writes = line.writes.get(id);
    if (writes !== undefined) target.writes.set(id, writes);
  }
}

function lastSeqOf(thread: NaiveThread): number {
  const seqs = [...thread.lines.values()].flatMap((line) => line.checkpoints.map(({ seq }) => seq));
  return Math.max(Number.NEGATIVE_INFINITY, ...seqs);
}
