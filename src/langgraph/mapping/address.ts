import { createHash } from "node:crypto";
import type { RunnableConfig } from "@langchain/core/runnables";
import { isId, isNamespace } from "../../model/address.ts";
import type { CheckpointInfo } from "../../model/checkpoint.ts";
import { notesOf } from "./bookkeeping.ts";

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

/** The beginning of what stands for a text that the store does not take as an id. */
const digestMark = "sha256:";

/** A text as an id of the store's: itself, or a digest of it if it is too long or has characters that no id has. */
export function idOf(text: string): string {
  return isId(text) ? text : digestOf(text);
}

function digestOf(text: string): string {
  return `${digestMark}${createHash("sha256").update(text, "utf16le").digest("hex")}`;
}

/**
 * LangGraph's namespace as the store's: its levels, where it has levels, so that any string comes back as it was. One that is
 * too long for the store, as that of many graphs in one another may be, is a digest of its name, which is in the notes of its
 * checkpoints then.
 */
export function levelsOf(namespace: string): readonly string[] {
  if (namespace === "") return [];
  const parts = namespace.split("|");
  const levels = parts.includes("") ? [namespace] : parts;
  // A namespace that looks like a digest is taken for none.
  return namespace.startsWith(digestMark) || !isNamespace(levels) ? [digestOf(namespace)] : levels;
}

/** The name to note of a namespace, if its levels do not tell it. */
export function nameToNote(namespace: string): string | undefined {
  const [first] = levelsOf(namespace);
  return first?.startsWith(digestMark) ? namespace : undefined;
}

/** The name of a checkpoint's namespace. */
export function namespaceOf(info: Pick<CheckpointInfo, "namespace" | "metadata">): string {
  return notesOf(info).namespace ?? info.namespace.join("|");
}
