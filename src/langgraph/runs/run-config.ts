import { getEventListeners } from "node:events";
import type { RunnableConfig } from "@langchain/core/runnables";

/** What a config that LangGraph passes to its checkpointer tells of the run it belongs to. */

/** Whether a config is that of a run. Only those can stream. */
export function isRun(config: RunnableConfig): boolean {
  return typeof (config as { readonly writer?: unknown }).writer === "function";
}

/** Whether a config is that of a graph that runs inside another's node. */
export function isNested(config: RunnableConfig): boolean {
  return config.configurable?.["__pregel_read"] !== undefined;
}

/** Whether a run saves nothing before it ends. Then it looks at every promise of its saver at once. */
export function savesAtExit(config: RunnableConfig): boolean {
  const { durability, checkpointDuring } = config as {
    readonly durability?: unknown;
    readonly checkpointDuring?: unknown;
  };
  if (durability !== undefined) return durability === "exit";
  return checkpointDuring === false || config.configurable?.["__pregel_durability"] === "exit";
}

/**
 * Whether nobody listens to an abort signal. LangGraph does not say when a run ends, but while one is under way it listens to
 * the signal of its config, which is its own.
 */
export function isUnheard(signal: AbortSignal): boolean {
  return signal.aborted || listeners(signal) === 0;
}

/**
 * Whether a run that waits for its saver would look like this: no task of its own is at work. Undefined where that cannot be
 * told. Before the first task of a step has ended, the step has two listeners on the signal of the outermost run; that of an
 * enclosing run may have two of its own; and whoever takes what the outermost run streams has one.
 */
export function hasNoTaskAtWork(config: RunnableConfig, namespace: string): boolean | undefined {
  const signals = config.configurable?.["__pregel_abort_signals"] as
    | { readonly externalAbortSignal?: AbortSignal }
    | undefined;
  const signal = signals?.externalAbortSignal ?? config.signal;
  if (signal === undefined) return undefined;
  // A part that is a number counts the graphs that one node calls.
  const enclosing = namespace === "" ? 0 : namespace.split("|").filter((part) => !/^\d+$/.test(part)).length;
  return signal.aborted || listeners(signal) <= 2 * enclosing + 1;
}

function listeners(signal: AbortSignal): number {
  return getEventListeners(signal, "abort").length;
}
