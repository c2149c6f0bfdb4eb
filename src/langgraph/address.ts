import type { RunnableConfig } from "@langchain/core/runnables";

/** Where a config points. LangGraph names nested graphs by one string, `"outer:task|inner:task"`; the root's is `""`. */
export interface Address {
  readonly thread: string;
  readonly namespace: string;
  readonly checkpoint: string | undefined;
}

/** The address in a config, or undefined when it names no thread. */
export function addressOf(config: RunnableConfig): Address | undefined {
  const thread = identifier(config.configurable?.["thread_id"]);
  if (thread === undefined) return undefined;
  const { checkpoint_ns: namespace, checkpoint_id, thread_ts } = config.configurable ?? {};
  return {
    thread,
    namespace: typeof namespace === "string" ? namespace : "",
    // Its name in configs of early versions.
    checkpoint: identifier(checkpoint_id) ?? identifier(thread_ts),
  };
}

/** The address in a config that has to name a thread. */
export function requiredAddress(config: RunnableConfig, operation: string): Address {
  const address = addressOf(config);
  if (address !== undefined) return address;
  throw new TypeError(`${operation} needs config.configurable.thread_id. Pass { configurable: { thread_id: "…" } }.`);
}

function identifier(value: unknown): string | undefined {
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The config that names a checkpoint, and nothing else. */
export function configOf(thread: string, namespace: string, checkpoint: string): RunnableConfig {
  return { configurable: { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: checkpoint } };
}

/** LangGraph's namespace as the store's: its levels, where it has levels, so that any string comes back as it was. */
export function levelsOf(namespace: string): readonly string[] {
  if (namespace === "") return [];
  const levels = namespace.split("|");
  return levels.includes("") ? [namespace] : levels;
}

export function namespaceOf(levels: readonly string[]): string {
  return levels.join("|");
}
