import type { RunnableConfig } from "@langchain/core/runnables";
import type { ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { Source, CheckpointTuple as StoredTuple } from "../../model/checkpoint.ts";
import type { PutFields, PutInput } from "../../model/interface/options.ts";
import { assign } from "../../platform/plain-objects.ts";
import { fromStored } from "../values/from-stored.ts";
import { toStored, toStoredChannel, toUpdate } from "../values/to-stored.ts";
import { configOf, namespaceOf, nameToNote } from "./address.ts";
import {
  type Bookkeeping,
  formatNote,
  formatOf,
  isActivation,
  isSnapshot,
  keyOf,
  nameOf,
  notesOf,
  reserved,
} from "./bookkeeping.ts";
import { shownMetadata, storedMetadata } from "./metadata.ts";

export type State = Readonly<Record<string, unknown>>;

export interface CheckpointInput {
  readonly config: RunnableConfig;
  readonly namespace: string;
  readonly checkpoint: Checkpoint;
  readonly metadata: CheckpointMetadata;
  readonly newVersions: ChannelVersions;
  readonly hasParent: boolean;
  /** True if the put itself takes the input, an update: long lists of messages then begin with nodes that the parent may have. */
  readonly grows?: boolean;
  /** True if the values of all channels are given, not only new ones: an import. */
  readonly complete?: boolean;
  /** The id of a missing parent: see {@link Bookkeeping.parent}. */
  readonly missingParent?: string;
  /** True if the store has a schema: then `stateVersion` is the schema's. */
  readonly hasSchema?: boolean;
  /** The sends of that parent: see {@link Bookkeeping.sends}. */
  readonly sends?: readonly unknown[];
  /** True if messages that were stored before are taken to be unchanged. */
  readonly trusted?: boolean;
}

/**
 * Translates a put of LangGraph into a change of the parent's state. Only the channels in `newVersions` are new, all others
 * are the parent's; a channel that is listed there without a value is empty. The store finds the differences within a channel.
 */
export function putInput(input: CheckpointInput): PutInput<Record<string, unknown>> {
  const { checkpoint, metadata, newVersions, hasParent, complete = false, trusted = false } = input;
  const values: State = checkpoint.channel_values ?? {};
  const versions = checkpoint.channel_versions ?? {};
  const { source: origin } = metadata as Partial<CheckpointMetadata>;
  // A fork is put under the parent of the checkpoint it copies, and lists nothing as new. An update includes the writes of
  // finished tasks under their old versions.
  const whole = complete || origin === "fork" || origin === "update";
  const changed = new Set(Object.keys(whole ? versions : newVersions));
  // LangGraph also passes channels that were never written to, and have no version.
  const unlisted = Object.keys(values).filter((channel) => !Object.hasOwn(versions, channel));
  for (const channel of unlisted) changed.add(channel);
  const convert = input.grows === true ? toUpdate : toStoredChannel;
  const set: Record<string, unknown> = {};
  const unset: string[] = [];
  const noted: { readonly set: string[]; readonly unset: string[] } = { set: [], unset: [] };
  for (const channel of changed) {
    const value = values[channel];
    const hasValue = Object.hasOwn(values, channel);
    const key = keyOf(channel);
    const stored = hasValue ? convert(value, trusted) : undefined;
    if (hasValue) assign(set, key, stored);
    else unset.push(key);
    if (isActivation(channel)) continue;
    const isNew = Object.hasOwn(newVersions, channel) || isSnapshot(stored) || unlisted.includes(channel);
    if (complete && !isNew) continue;
    if (value === undefined || !hasValue) noted.unset.push(channel);
    else noted.set.push(channel);
  }
  const time = Date.parse(checkpoint.ts);
  set[reserved] = bookkeepingOf(input, unlisted, time);
  const named = nameToNote(input.namespace);
  const format = formatNote(checkpoint.v, input.hasSchema === true);
  const { source, step, run, workflow, kept } = storedMetadata(metadata, input.config, {
    ...(noted.set.length > 0 && { set: noted.set }),
    ...(noted.unset.length > 0 && { unset: noted.unset }),
    ...(named !== undefined && { namespace: named }),
    ...(format !== undefined && { format }),
  });
  const fields: { -readonly [Name in keyof PutFields]: PutFields[Name] } = {
    id: checkpoint.id,
    source,
    node: lastNode(checkpoint, source),
    path: [],
    next: activatedNodes(values, changed),
    run,
    metadata: kept,
  };
  if (step !== undefined) fields.step = step;
  if (workflow !== undefined) fields.workflow = workflow;
  if (Number.isFinite(time)) fields.createdAt = time;
  if (!input.hasSchema) fields.stateVersion = 0;
  return hasParent ? { ...fields, update: { set, unset: unset as never[] } } : { ...fields, state: set };
}

/** Returns a checkpoint's {@link Bookkeeping}. `time` is that of the checkpoint, if it has one. */
function bookkeepingOf(
  { checkpoint, missingParent, sends }: CheckpointInput,
  unlisted: readonly string[],
  time: number,
): Bookkeeping {
  const { id: _id, v, ts, channel_values: _values, channel_versions, versions_seen, ...rest } = checkpoint;
  return {
    versions: channel_versions ?? {},
    seen: versions_seen ?? {},
    ...(unlisted.length > 0 && { unlisted }),
    v,
    ...(!isIsoTime(ts, time) && { ts }),
    ...(Object.keys(rest).length > 0 && { rest: toStored(rest) as Record<string, unknown> }),
    ...(missingParent !== undefined && { parent: missingParent }),
    ...(sends !== undefined && { sends: sends.map((send) => toStored(send)) }),
  };
}

function isIsoTime(ts: unknown, time: number): boolean {
  return typeof ts === "string" && Number.isFinite(time) && new Date(time).toISOString() === ts;
}

/**
 * Returns the node that ran last, which has seen the newest version; null if several have, and where an input was taken in, which
 * is the work of no node. Only shown to people.
 */
function lastNode(checkpoint: Checkpoint, source: Source): string | null {
  if (source === "input") return null;
  let newest = Number.NEGATIVE_INFINITY;
  let nodes: string[] = [];
  for (const [node, seen] of Object.entries(checkpoint.versions_seen ?? {})) {
    if (node.startsWith("__") && node !== "__start__") continue;
    const version = Math.max(...Object.values(seen ?? {}).filter((value) => typeof value === "number"));
    if (version > newest) [newest, nodes] = [version, [node]];
    else if (version === newest) nodes.push(node);
  }
  const [node, ...others] = nodes;
  return node?.isWellFormed() && node !== "__start__" && others.length === 0 ? node : null;
}

/** Returns the nodes that the checkpoint's channels activate. Only shown to people, and for the thread's status. */
function activatedNodes(values: State, changed: ReadonlySet<string>): string[] {
  const nodes: string[] = [];
  for (const channel of changed) {
    const value = values[channel];
    if (value === undefined) continue;
    if (channel.startsWith("branch:to:")) nodes.push(channel.slice("branch:to:".length));
    else if (channel === "__start__") nodes.push(channel);
    else if (channel === "__pregel_tasks" && Array.isArray(value)) {
      for (const send of value) if (typeof send?.node === "string") nodes.push(send.node as string);
    }
  }
  return nodes.filter((node) => node.isWellFormed());
}

/**
 * Translates a stored tuple into LangGraph's. Changes the stored tuple, which must belong to the caller. With `hasSchema`, channels
 * that the bookkeeping does not know are shown too: a migration has made them.
 */
export function shownTuple(stored: StoredTuple<Record<string, unknown>>, hasSchema: boolean): CheckpointTuple {
  const { checkpoint, parent, writes } = stored;
  const { state, thread, id } = checkpoint;
  const namespace = namespaceOf(checkpoint);
  const { versions, seen, unlisted = [], rest, ...others } = state[reserved] as Bookkeeping;
  const { set = [] } = notesOf(checkpoint);
  const values: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(state)) {
    const channel = nameOf(key);
    if (channel === undefined) continue;
    if (!hasSchema && !(Object.hasOwn(versions, channel) || unlisted.includes(channel))) continue;
    if (!isSnapshot(value) || set.includes(channel)) assign(values, channel, fromStored(value));
  }
  const parentId = others.parent ?? parent?.id;
  return {
    config: configOf(thread, namespace, id),
    checkpoint: {
      v: (Object.hasOwn(others, "v") ? others.v : formatOf(checkpoint)) as number,
      id,
      ts: (Object.hasOwn(others, "ts") ? others.ts : new Date(checkpoint.createdAt).toISOString()) as string,
      channel_values: values,
      channel_versions: { ...versions },
      versions_seen: seen as Checkpoint["versions_seen"],
      ...(rest !== undefined && (fromStored(rest) as object)),
    },
    metadata: shownMetadata(checkpoint),
    ...(parentId !== undefined && { parentConfig: configOf(thread, namespace, parentId) }),
    pendingWrites: writes.map(({ task, channel, value }) => [task, channel, fromStored(value)]),
  };
}
