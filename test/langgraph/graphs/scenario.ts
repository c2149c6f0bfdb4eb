import type { RunnableConfig } from "@langchain/core/runnables";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

/** A graph and what is done with it, the same with any saver. Returns what the graph gave, to be compared. */
export interface Scenario {
  readonly name: string;
  run(checkpointer: BaseCheckpointSaver, thread: string): Promise<unknown>;
}

export function on(thread: string, more: Record<string, unknown> = {}): RunnableConfig {
  return { configurable: { thread_id: thread, ...more } };
}

/** The ids of a thread's root checkpoints, newest first. */
export async function checkpointIdsOf(checkpointer: BaseCheckpointSaver, thread: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const tuple of checkpointer.list(on(thread, { checkpoint_ns: "" }))) ids.push(tuple.checkpoint.id);
  return ids;
}
