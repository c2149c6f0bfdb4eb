import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { collect } from "../../support/collect.ts";
import { describe } from "./describe.ts";

/** Everything a saver has of a thread, as text, with checkpoints named by their place instead of their ids. */
export async function dumpThread(saver: BaseCheckpointSaver, thread: string): Promise<string[]> {
  const tuples = await collect(saver.list({ configurable: { thread_id: thread } }));
  tuples.sort((left, right) => (left.checkpoint.id < right.checkpoint.id ? -1 : 1));
  const counts = new Map<string, number>();
  const names = new Map<string, string>();
  for (const tuple of tuples) {
    const namespace = namespaceOf(tuple);
    const count = counts.get(namespace) ?? 0;
    counts.set(namespace, count + 1);
    const stable = namespace.replaceAll(/:[0-9a-f-]{36}/g, "");
    // Parallel tasks are not told apart: which was first is chance.
    const siblings = [...counts.keys()].filter((other) => other.replaceAll(/:[0-9a-f-]{36}/g, "") === stable);
    names.set(tuple.checkpoint.id, `${stable}${siblings.length > 1 ? "*" : ""}#${count}`);
  }
  const texts = tuples.map((tuple) => dumpTuple(tuple, names));
  return texts.sort();
}

function namespaceOf(tuple: CheckpointTuple): string {
  return String(tuple.config.configurable?.["checkpoint_ns"]);
}

function dumpTuple(tuple: CheckpointTuple, names: ReadonlyMap<string, string>): string {
  const { checkpoint, metadata, parentConfig, pendingWrites = [] } = tuple;
  const { v, channel_values, channel_versions, versions_seen } = checkpoint;
  const parents = Object.entries(metadata?.parents ?? {}).map(([, id]) => names.get(id) ?? "?");
  return describe({
    name: names.get(checkpoint.id)?.replace(/\*#\d+$/, "*"),
    parent: (names.get(String(parentConfig?.configurable?.["checkpoint_id"])) ?? null)?.replace(/\*#\d+$/, "*"),
    v,
    metadata: { ...metadata, parents },
    channel_values,
    channel_versions,
    versions_seen,
    // LangGraph's savers disagree on answers put again beside a task's results: MemorySaver replaces them, those on databases do not.
    writes: pendingWrites
      .filter(([, channel]) => channel !== "__resume__")
      .map(([, channel, value]) => describe({ channel, value }))
      .sort(),
  });
}
