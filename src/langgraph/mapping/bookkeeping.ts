import type { CheckpointInfo, Metadata } from "../../model/checkpoint.ts";

/**
 * How a LangGraph checkpoint lies in a store.
 *
 * | LangGraph | Threadmark |
 * | --- | --- |
 * | `thread_id`, `checkpoint_ns` | thread, namespace (a level a part; a digest, if that is too long) |
 * | `checkpoint.id`, the parent's id in the config | id, parent |
 * | `channel_values` | the state, a key a channel |
 * | `channel_versions`, `versions_seen` | the state's key {@link reserved} |
 * | `v`, `ts` | `stateVersion`, `createdAt` |
 * | `metadata.source`, `metadata.step` | `source`, `step` |
 * | the rest of the metadata, and the config's | `metadata` |
 * | `run_id` in the config | `run` (a digest, if it is no id) |
 * | pending writes | writes; special channels have negative indexes |
 *
 * Every checkpoint has values of its own, as a change of its parent's. No value is looked up by its channel's version: two
 * branches may give the same version to different values.
 */
export const reserved = "__langgraph__";

/** What LangGraph needs to know of a checkpoint besides its channels' values. */
export interface Bookkeeping {
  readonly versions: Readonly<Record<string, string | number>>;
  readonly seen: Readonly<Record<string, Readonly<Record<string, string | number>>>>;
  /** Channels that have a value though `versions` does not list them. */
  readonly unlisted?: readonly string[];
  /** As given, where `createdAt` and `stateVersion` do not tell. */
  readonly ts?: unknown;
  readonly v?: unknown;
  /** Fields of other versions of the format. */
  readonly rest?: Readonly<Record<string, unknown>>;
  /** A parent that was not in the database this checkpoint was imported from. */
  readonly parent?: string;
  /** What was read from checkpoints that have been removed since: the parent's sends, for `v < 4`. */
  readonly sends?: readonly unknown[];
  /** And what channels that keep only writes are made of, by channel. */
  readonly history?: Readonly<Record<string, StoredHistory>>;
}

/** What a channel is made of: a value it started from, and the writes since, oldest first. */
export interface StoredHistory {
  readonly seed?: unknown;
  readonly writes: readonly (readonly [task: string, value: unknown])[];
}

/** What is noted in a checkpoint's metadata, where it is found without reading states. */
export interface Notes {
  /** Channels that got a value with this checkpoint, and channels that lost theirs. */
  readonly set?: readonly string[];
  readonly unset?: readonly string[];
  /** Channels whose history is kept with the checkpoint, since it went with its ancestors. */
  readonly history?: readonly string[];
  /** Which of source and step the metadata did not have. */
  readonly absent?: readonly string[];
  /** The name of the namespace, where the store has a digest of it. */
  readonly namespace?: string;
}

export function notesOf(info: Pick<CheckpointInfo, "metadata">): Notes {
  return (info.metadata[reserved] as Notes | undefined) ?? {};
}

export function withNotes(metadata: Metadata, notes: Notes): Metadata {
  const { [reserved]: _before, ...rest } = metadata;
  return Object.values(notes).some((note) => note !== undefined && note.length > 0)
    ? { ...rest, [reserved]: notes }
    : rest;
}

/** Channels that a graph uses to activate its nodes. They never keep a history, so that nothing is noted of them. */
export function isActivation(channel: string): boolean {
  return channel.startsWith("branch:") || channel === "__start__" || channel === "__pregel_tasks";
}

/**
 * Whether a stored value is a snapshot of a channel that keeps only its writes. That belongs to the checkpoint it was made
 * with: unlike other values, those that follow do not have it.
 */
export function isSnapshot(value: unknown): boolean {
  return typeof value === "object" && value !== null && (value as { readonly lc?: unknown }).lc === "DeltaSnapshot";
}

const reservedName = /^__langgraph__=*$/;

/** The key of a channel in the state, or of a field in the metadata: itself, unless that is reserved. */
export function keyOf(name: string): string {
  return reservedName.test(name) ? `${name}=` : name;
}

/** The inverse of {@link keyOf}; undefined for the reserved key itself. */
export function nameOf(key: string): string | undefined {
  if (key === reserved) return undefined;
  return reservedName.test(key) ? key.slice(0, -1) : key;
}
