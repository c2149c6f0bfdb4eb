import type { Thread } from "../../api/thread.ts";
import { ThreadmarkError } from "../../errors.ts";
import type { CheckpointRef } from "../../model/interface/options.ts";
import type { StateUpdate } from "../graph/overwrite.ts";
import type { Values } from "../graph/reducers.ts";

/** Options of `flow.fork`: from a checkpoint, or after the last run of a node. */
export type ForkFlowOptions<State, Names extends string = string> = {
  /** The id of the new thread. Default: a new id. */
  readonly into?: string;
  /** Values that go through the reducers first. Default: none. */
  readonly update?: StateUpdate<State>;
} & ({ readonly at?: CheckpointRef; readonly after?: undefined } | { readonly after: Names; readonly at?: undefined });

/** Returns the last checkpoint that a node has led to. */
export async function lastAfter(thread: Thread<Values>, node: string): Promise<string> {
  for await (const checkpoint of thread.history()) if (checkpoint.node === node) return checkpoint.id;
  throw new ThreadmarkError(
    "NOT_FOUND",
    `Thread "${thread.id}" has no checkpoint after node "${node}". Name a checkpoint with { at }.`,
    {
      thread: thread.id,
    },
  );
}
