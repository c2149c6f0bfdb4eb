import { getEventListeners } from "node:events";
import type { RunnableConfig } from "@langchain/core/runnables";

/** Tells whether a config is that of a run. Only such configs have a writer for streams. */
export function isRun(config: RunnableConfig): boolean {
  return typeof (config as { readonly writer?: unknown }).writer === "function";
}

/** Tells whether a config is that of a graph inside another graph's node. */
export function isNested(config: RunnableConfig): boolean {
  return config.configurable?.["__pregel_read"] !== undefined;
}

/** Tells whether a run saves only when it ends. Such a run looks at all promises of its saver at once. */
export function savesAtExit(config: RunnableConfig): boolean {
  const { durability, checkpointDuring } = config as {
    readonly durability?: unknown;
    readonly checkpointDuring?: unknown;
  };
  if (durability !== undefined) return durability === "exit";
  return checkpointDuring === false || config.configurable?.["__pregel_durability"] === "exit";
}

/**
 * Tells whether an abort signal has no listeners. LangGraph does not say when a run ends, but a run listens to the signal of
 * its config while it is under way.
 */
export function isUnheard(signal: AbortSignal): boolean {
  return signal.aborted || listeners(signal) === 0;
}

/**
 * Tells whether a run has no task at work, as while it waits for its saver; undefined where that cannot be told. Until its
 * first task has ended, a step has two listeners on the signal of the outermost run. The steps of enclosing runs may have two
 * each, and the reader of the outermost run's stream has one.
 */
export function hasNoTaskAtWork(config: RunnableConfig, namespace: string): boolean | undefined {
  const signals = config.configurable?.["__pregel_abort_signals"] as
    | { readonly externalAbortSignal?: AbortSignal }
    | undefined;
  const signal = signals?.externalAbortSignal ?? config.signal;
  if (signal === undefined) return undefined;
  // A numeric part counts the graphs that a node calls, and is no level of its own.
  const enclosing = namespace === "" ? 0 : namespace.split("|").filter((part) => !/^\d+$/.test(part)).length;
  return signal.aborted || listeners(signal) <= 2 * enclosing + 1;
}

function listeners(signal: AbortSignal): number {
  return getEventListeners(signal, "abort").length;
}
