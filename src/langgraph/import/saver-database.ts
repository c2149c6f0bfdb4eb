import type { Checkpoint, CheckpointMetadata } from "@langchain/langgraph-checkpoint";

/** The database of one of LangGraph's own savers, open for reading. */
export interface SaverDatabase {
  /** The file or url, without a password. */
  readonly place: string;
  /** Returns the bytes that the tables take. */
  bytes(): Promise<number>;
  /** Returns the number of checkpoints. */
  count(): Promise<number>;
  threads(): Promise<readonly string[]>;
  /** Returns the checkpoints of a thread, of every namespace, in any order. */
  rows(thread: string): Promise<readonly SavedRow[]>;
  /** Reads a checkpoint; undefined if it was deleted since it was listed. Rejects with {@link Unreadable} if it cannot be read. */
  checkpoint(thread: string, row: SavedRow): Promise<SavedCheckpoint | undefined>;
  /** Returns the keys of a thread's writes, those of missing checkpoints too. */
  writeKeys(thread: string): Promise<readonly SavedWriteKey[]>;
  /** Reads the writes of a checkpoint. Rejects with {@link Unreadable} if they cannot be read. */
  writes(thread: string, row: Pick<SavedRow, "namespace" | "id">): Promise<readonly SavedWrite[]>;
  close(): Promise<void>;
}

export interface SavedRow {
  readonly namespace: string;
  readonly id: string;
  readonly parent: string | null;
}

export interface SavedCheckpoint {
  /** The checkpoint with the values of all its channels. */
  readonly checkpoint: Checkpoint;
  readonly metadata: CheckpointMetadata;
}

export interface SavedWriteKey {
  readonly namespace: string;
  /** The checkpoint's id. */
  readonly id: string;
  readonly task: string;
  readonly index: number;
}

export interface SavedWrite {
  readonly task: string;
  readonly index: number;
  readonly channel: string;
  readonly value: unknown;
}

/** The fault of a stored value that nobody can read, its own saver included. */
export class Unreadable extends Error {}
