import { createHash } from "node:crypto";
import type { RunnableConfig } from "@langchain/core/runnables";
import { isId, isNamespace } from "../../model/address.ts";
import type { CheckpointInfo } from "../../model/checkpoint.ts";
import { notesOf } from "./bookkeeping.ts";

/** The checkpoint that a config names. The namespace is a string, `"outer:task|inner:task"` for nested graphs, `""` for the root. */
export interface Address {
  readonly thread: string;
  readonly namespace: string;
  readonly checkpoint: string | undefined;
}

/** Returns the address in a config, or undefined if it names no thread. */
export function addressOf(config: RunnableConfig): Address | undefined {
  const thread = identifier(config.configurable?.["thread_id"]);
  if (thread === undefined) return undefined;
  const { checkpoint_ns: namespace, checkpoint_id, thread_ts } = config.configurable ?? {};
  return {
    thread,
    namespace: typeof namespace === "string" ? namespace : "",
    // Early versions of LangGraph call it thread_ts.
    checkpoint: identifier(checkpoint_id) ?? identifier(thread_ts),
  };
}

/** Returns the address in a config; a TypeError if it names no thread. */
export function requiredAddress(config: RunnableConfig, operation: string): Address {
  const address = addressOf(config);
  if (address !== undefined) return address;
  throw new TypeError(`${operation} needs config.configurable.thread_id. Pass { configurable: { thread_id: "…" } }.`);
}

function identifier(value: unknown): string | undefined {
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Makes the config that names a checkpoint. */
export function configOf(thread: string, namespace: string, checkpoint: string): RunnableConfig {
  return { configurable: { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: checkpoint } };
}

/** The prefix of digests, which stand for texts that cannot be ids of the store. */
const digestMark = "sha256:";

/** Returns a text as an id of the store: the text itself, or a digest if it is too long or has characters that ids lack. */
export function idOf(text: string): string {
  return isId(text) ? text : digestOf(text);
}

function digestOf(text: string): string {
  return `${digestMark}${createHash("sha256").update(text, "utf16le").digest("hex")}`;
}

/**
 * Returns a namespace of LangGraph as levels of the store. A namespace that is too long for the store, as many nested graphs
 * may make it, becomes a digest, and the notes of its checkpoints hold the name.
 */
export function levelsOf(namespace: string): readonly string[] {
  if (namespace === "") return [];
  const parts = namespace.split("|");
  const levels = parts.includes("") ? [namespace] : parts;
  // A namespace that looks like a digest is digested too, so that it is not taken for one.
  return namespace.startsWith(digestMark) || !isNamespace(levels) ? [digestOf(namespace)] : levels;
}

/** Returns the name to note of a namespace, if its levels are a digest. */
export function nameToNote(namespace: string): string | undefined {
  const [first] = levelsOf(namespace);
  return first?.startsWith(digestMark) ? namespace : undefined;
}

/** Returns LangGraph's name of a checkpoint's namespace. */
export function namespaceOf(info: Pick<CheckpointInfo, "namespace" | "metadata">): string {
  return notesOf(info).namespace ?? info.namespace.join("|");
}
