import type { Json } from "../../codec/json.ts";
import type { CheckpointInfo, Interrupt, Metadata, Source } from "../../model/checkpoint.ts";

/** A checkpoint without its body, as the engine holds it. Parents are named by seq: within a thread, a seq is unique. */
export interface Row {
  readonly seq: number;
  readonly id: string;
  /** `""` for the root, else the namespace as JSON. */
  readonly namespace: string;
  /** The parent's seq; 0 for a root. */
  readonly parent: number;
  /**
   * The seq of the frame that this one is a delta against, if it is not a full value: the parent's. Where several rows
   * built on a deleted one, it is the row among them that took over its change.
   */
  readonly base: number;
  readonly step: number;
  readonly source: Source;
  readonly node: string | null;
  readonly run: string | null;
  readonly workflow: string | null;
  readonly label: string;
  readonly createdAt: number;
  readonly stateVersion: number;
  /** Encoded metadata; null stands for `{}`. */
  readonly metadata: Json;
  readonly pending: number;
  readonly waiting: number;
  /** The ids of the questions that wait; null for none, and for rows that were written before ids were kept. */
  readonly questions: readonly string[] | null;
  /** Whether the frame or the metadata holds tagged values. */
  readonly tagged: boolean;
  /**
   * The record of the row holds writes against its parent: see {@link CarriedTask}. Invariant: the parent's seq is then the
   * one before, so that a row's writes are found without looking for its children. Of writes that were committed before the
   * row, the log has told watchers; of others ("untold") the row itself does.
   */
  readonly carries?: "told" | "untold";
}

/** The fields of a row that differ from their defaults, under readable names: what a `tail` record stores. */
export interface RowRecord {
  id: string;
  namespace?: string;
  parent?: number;
  /** Where it is not the parent. */
  base?: number;
  step: number;
  source?: Source;
  node?: string;
  run?: string;
  workflow?: string;
  label?: string;
  createdAt: number;
  stateVersion?: number;
  metadata?: Json;
  pending?: number;
  waiting?: number;
  questions?: readonly string[];
  tagged?: true;
}

export function toRecord(row: Row): RowRecord {
  const record: RowRecord = { id: row.id, step: row.step, createdAt: row.createdAt };
  if (row.namespace !== "") record.namespace = row.namespace;
  if (row.parent !== 0) record.parent = row.parent;
  if (row.base !== row.parent) record.base = row.base;
  if (row.source !== "loop") record.source = row.source;
  if (row.node !== null) record.node = row.node;
  if (row.run !== null) record.run = row.run;
  if (row.workflow !== null) record.workflow = row.workflow;
  if (row.label !== "") record.label = row.label;
  if (row.stateVersion !== 0) record.stateVersion = row.stateVersion;
  if (row.metadata !== null) record.metadata = row.metadata;
  if (row.pending !== 0) record.pending = row.pending;
  if (row.waiting !== 0) record.waiting = row.waiting;
  if (row.questions !== null) record.questions = row.questions;
  if (row.tagged) record.tagged = true;
  return record;
}

export function fromRecord(seq: number, record: RowRecord): Row {
  return {
    seq,
    id: record.id,
    namespace: record.namespace ?? "",
    parent: record.parent ?? 0,
    base: record.base ?? record.parent ?? 0,
    step: record.step,
    source: record.source ?? "loop",
    node: record.node ?? null,
    run: record.run ?? null,
    workflow: record.workflow ?? null,
    label: record.label ?? "",
    createdAt: record.createdAt,
    stateVersion: record.stateVersion ?? 0,
    metadata: record.metadata ?? null,
    pending: record.pending ?? 0,
    waiting: record.waiting ?? 0,
    questions: record.questions ?? null,
    tagged: record.tagged === true,
  };
}

/** Returns the ids of a body's questions, as rows keep them. */
export function questionIds(interrupts: readonly Pick<Interrupt, "id">[]): Row["questions"] {
  return interrupts.length === 0 ? null : interrupts.map(({ id }) => id);
}

/** Returns a row as the public interface shows it. */
export function toInfo(
  row: Row,
  thread: string,
  namespace: readonly string[],
  parent: string | null,
  metadata: Metadata,
): CheckpointInfo {
  return {
    id: row.id,
    thread,
    namespace: [...namespace],
    seq: row.seq,
    parent,
    step: row.step,
    source: row.source,
    node: row.node,
    run: row.run,
    workflow: row.workflow,
    label: row.label,
    createdAt: row.createdAt,
    stateVersion: row.stateVersion,
    metadata,
    pending: row.pending,
    waiting: row.waiting,
  };
}
