import type { Checkpoint, CheckpointMetadata } from "@langchain/langgraph-checkpoint";

/** A database of one of LangGraph's own savers, which is only read. */
export interface Source {
  /** Where it is, for people: without a password. */
  readonly place: string;
  /** What its tables take on the medium. */
  bytes(): Promise<number>;
  /** How many checkpoints there are in all. */
  count(): Promise<number>;
  threads(): Promise<readonly string[]>;
  /** The checkpoints of a thread, of every namespace, in any order. */
  rows(thread: string): Promise<readonly SourceRow[]>;
  /** Undefined if it has been deleted since it was listed. What cannot be read rejects with {@link Unreadable}. */
  checkpoint(thread: string, row: SourceRow): Promise<SourceCheckpoint | undefined>;
  /** Which writes a thread has, also those of checkpoints that are not there. */
  writeKeys(thread: string): Promise<readonly SourceWriteKey[]>;
  /** The writes of one checkpoint. What cannot be read rejects with {@link Unreadable}. */
  writes(thread: string, row: Pick<SourceRow, "namespace" | "id">): Promise<readonly SourceWrite[]>;
  close(): Promise<void>;
}

export interface SourceRow {
  readonly namespace: string;
  readonly id: string;
  readonly parent: string | null;
}

export interface SourceCheckpoint {
  /** With the values of all its channels. */
  readonly checkpoint: Checkpoint;
  readonly metadata: CheckpointMetadata;
}

export interface SourceWriteKey {
  readonly namespace: string;
  /** The checkpoint's id. */
  readonly id: string;
  readonly task: string;
  readonly index: number;
}

export interface SourceWrite {
  readonly task: string;
  readonly index: number;
  readonly channel: string;
  readonly value: unknown;
}

/** What a database holds cannot be made sense of: by nobody, its own saver included. */
export class Unreadable extends Error {}
