import { ThreadmarkError } from "../../errors.ts";
import type { CheckpointInfo, Metadata } from "../../model/checkpoint.ts";

/**
 * The key of a state, or of metadata, under which the saver keeps its own data. A LangGraph checkpoint is stored like this:
 *
 * | LangGraph | Threadmark |
 * | --- | --- |
 * | `thread_id`, `checkpoint_ns` | thread, namespace (a level for each part; a digest if it is too long) |
 * | `checkpoint.id`, the parent's id in the config | id, parent |
 * | `channel_values` | the state, a key for each channel |
 * | `channel_versions`, `versions_seen` | the state's key {@link reserved} |
 * | `v`, `ts` | the state's key {@link reserved}, `createdAt`; `v` was the `stateVersion` before stores had schemas |
 * | `metadata.source`, `metadata.step` | `source`, `step` |
 * | the rest of the metadata, and the config's | `metadata` |
 * | `run_id` in the config | `run` (a digest if it cannot be an id) |
 * | pending writes | writes; special channels have negative indexes |
 *
 * Invariant: no value is looked up by its channel's version, because two branches may give the same version to different
 * values. Every checkpoint has values of its own, stored as a change of its parent's.
 */
export const reserved = "__langgraph__";

/** The parts of a LangGraph checkpoint besides its channels' values. */
export interface Bookkeeping {
  readonly versions: Readonly<Record<string, string | number>>;
  readonly seen: Readonly<Record<string, Readonly<Record<string, string | number>>>>;
  /** Channels that have a value though `versions` does not list them. */
  readonly unlisted?: readonly string[];
  /** The original `ts`, where `createdAt` cannot hold it. */
  readonly ts?: unknown;
  /** The version of LangGraph's format; absent in checkpoints whose `stateVersion` is that. */
  readonly v?: unknown;
  /** Fields that only other versions of the format have. */
  readonly rest?: Readonly<Record<string, unknown>>;
  /** The parent's id, if the database that the checkpoint was imported from lacks the parent. */
  readonly parent?: string;
  /** For `v < 4`: the sends that were among the writes of the parent, copied before the parent was removed. */
  readonly sends?: readonly unknown[];
  /** Histories of channels that keep only writes, copied before ancestors were removed. */
  readonly history?: Readonly<Record<string, StoredHistory>>;
}

/** The history of a channel that keeps only writes: its seed, and the writes since, oldest first. */
export interface StoredHistory {
  readonly seed?: unknown;
  readonly writes: readonly (readonly [task: string, value: unknown])[];
}

/** The saver's notes in a checkpoint's metadata, which are read without reading states. */
export interface SaverNotes {
  /** Channels that got a value with this checkpoint, and channels that lost theirs. */
  readonly set?: readonly string[];
  readonly unset?: readonly string[];
  /** Channels whose history is copied into the checkpoint: see {@link Bookkeeping.history}. */
  readonly history?: readonly string[];
  /** The fields among `source` and `step` that LangGraph's metadata lacked. */
  readonly absent?: readonly string[];
  /** LangGraph's name of the namespace, if the store has a digest of it. */
  readonly namespace?: string;
  /** The version of LangGraph's format as text: an older one, or any where `stateVersion` is that of the program's schema. */
  readonly format?: string;
}

/** The version of LangGraph's format that is written now. */
const newestFormat = 4;

/** Returns the note about the version of a checkpoint's format, if it needs one. */
export function formatNote(v: unknown, hasSchema: boolean): string | undefined {
  if (!Number.isSafeInteger(v)) return undefined;
  return hasSchema || (v as number) < newestFormat ? String(v) : undefined;
}

/** Returns the version of LangGraph's format that a checkpoint has, without its state. */
export function formatOf(info: Pick<CheckpointInfo, "metadata" | "stateVersion">): number {
  const { format } = notesOf(info);
  if (format !== undefined) return Number(format);
  return info.stateVersion === 0 ? newestFormat : info.stateVersion;
}

/** Tells whether a state is that of a LangGraph checkpoint: a store may have threads of other programs, too. */
export function isOfLangGraph(state: unknown): boolean {
  return typeof state === "object" && state !== null && Object.hasOwn(state, reserved);
}

export function notOfLangGraph(thread: string): ThreadmarkError {
  return new ThreadmarkError(
    "UNSUPPORTED",
    `Thread ${JSON.stringify(thread)} was not written by LangGraph. Give the graph a thread_id of its own.`,
    { thread },
  );
}

export function notesOf(info: Pick<CheckpointInfo, "metadata">): SaverNotes {
  return (info.metadata[reserved] as SaverNotes | undefined) ?? {};
}

export function withNotes(metadata: Metadata, notes: SaverNotes): Metadata {
  const { [reserved]: _before, ...rest } = metadata;
  return Object.values(notes).some((note) => note !== undefined && note.length > 0)
    ? { ...rest, [reserved]: notes }
    : rest;
}

/** Tells whether a channel activates nodes. Such channels never have a history, and are not noted. */
export function isActivation(channel: string): boolean {
  return channel.startsWith("branch:") || channel === "__start__" || channel === "__pregel_tasks";
}

/**
 * Tells whether a stored value is a snapshot of a channel that keeps only writes. Unlike other values, a snapshot belongs to
 * its own checkpoint alone, not to the checkpoints that follow.
 */
export function isSnapshot(value: unknown): boolean {
  return typeof value === "object" && value !== null && (value as { readonly lc?: unknown }).lc === "DeltaSnapshot";
}

const reservedName = /^__langgraph__=*$/;

/** Returns the key of a channel in the state, or of a field in the metadata: the name, escaped if it is reserved. */
export function keyOf(name: string): string {
  return reservedName.test(name) ? `${name}=` : name;
}

/** Reverses {@link keyOf}. Returns undefined for the reserved key itself. */
export function nameOf(key: string): string | undefined {
  if (key === reserved) return undefined;
  return reservedName.test(key) ? key.slice(0, -1) : key;
}
