import { isDeepStrictEqual } from "node:util";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import { isId } from "../../model/address.ts";
import { type CheckpointInfo, type Metadata, type Source, sources } from "../../model/checkpoint.ts";
import { assign } from "../../platform/plain-objects.ts";
import { fromStoredMetadata } from "../values/from-stored.ts";
import { hasPlainFields, isPlainArray } from "../values/plain-objects.ts";
import { toStored } from "../values/to-stored.ts";
import { idOf } from "./address.ts";
import { keyOf, nameOf, notesOf, type SaverNotes, withNotes } from "./bookkeeping.ts";

/** The fields of a put that come from LangGraph's metadata and config. */
export interface StoredMetadata {
  readonly source: Source;
  readonly step: number | undefined;
  readonly run: string | null;
  readonly workflow: string | undefined;
  readonly kept: Metadata;
}

/** Keys that LangGraph itself adds to a config's metadata. The run's id is stored as the checkpoint's `run`. */
const frameworkKeys = new Set([
  "thread_id",
  "checkpoint_id",
  "checkpoint_ns",
  "checkpoint_map",
  "task_id",
  "run_id",
  "ls_integration",
  "lc_versions",
]);

/** The number of levels of a config's metadata that are kept. */
const deepest = 64;

/** Captures a checkpoint's metadata, together with that of its config. */
export function storedMetadata(
  metadata: CheckpointMetadata,
  config: RunnableConfig,
  notes: SaverNotes,
): StoredMetadata {
  const { source, step } = metadata as Partial<CheckpointMetadata>;
  const known = sources.includes(source as Source);
  const whole = Number.isSafeInteger(step);
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(config.metadata ?? {})) {
    if (!isFrameworkKey(key) && isJson(value)) assign(kept, keyOf(key), toStored(value));
  }
  for (const [key, value] of Object.entries(metadata)) {
    if ((key === "source" && known) || (key === "step" && whole)) continue;
    assign(kept, keyOf(key), toStored(value));
  }
  const workflow = text(config.metadata?.["graph_id"]) ?? text(config.configurable?.["graph_id"]);
  const absent = ["source", "step"].filter((key) => !Object.hasOwn(metadata, key));
  return {
    source: known ? (source as Source) : "loop",
    step: whole ? (step as number) : undefined,
    run: runOf(config),
    workflow: workflow !== undefined && isId(workflow) ? workflow : undefined,
    kept: withNotes(kept, absent.length === 0 ? notes : { ...notes, absent }),
  };
}

/** Returns the id of a config's run. LangGraph removes `runId` before its saver sees the config, other callers may not. */
function runOf({ metadata, configurable, runId }: RunnableConfig): string | null {
  const run = text(metadata?.["run_id"]) ?? text(configurable?.["run_id"]) ?? text(runId);
  return run === undefined ? null : idOf(run);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isFrameworkKey(key: string): boolean {
  return frameworkKeys.has(key) || key.startsWith("__") || key.startsWith("langgraph_");
}

/**
 * Tells whether a part of a config's metadata is plain data. Other parts are left out: a config may hold anything, and no run
 * should fail for it. `above`: the objects around the part.
 */
function isJson(value: unknown, above: readonly object[] = []): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || above.length >= deepest || above.includes(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  const ordinary = Array.isArray(value)
    ? prototype === Array.prototype && isPlainArray(value) && Reflect.ownKeys(value).length === value.length + 1
    : prototype === Object.prototype && hasPlainFields(value);
  return ordinary && Object.values(value).every((part) => isJson(part, [...above, value]));
}

/** Returns the metadata as LangGraph gave it. */
export function shownMetadata(info: CheckpointInfo): CheckpointMetadata {
  const { absent = [] } = notesOf(info);
  const shown: Record<string, unknown> = {};
  if (!absent.includes("source")) shown["source"] = info.source;
  if (!absent.includes("step")) shown["step"] = info.step;
  for (const [key, value] of Object.entries(info.metadata)) {
    const name = nameOf(key);
    if (name !== undefined) assign(shown, name, fromStoredMetadata(value));
  }
  return shown as unknown as CheckpointMetadata;
}

/** Tells whether a checkpoint's metadata has these values. `run_id` is the checkpoint's run. */
export function matches(info: CheckpointInfo, filter: Readonly<Record<string, unknown>>): boolean {
  const wanted = Object.entries(filter);
  if (wanted.length === 0) return true;
  const shown = shownMetadata(info) as unknown as Record<string, unknown>;
  return wanted.every(([key, value]) => {
    if (Object.hasOwn(shown, key)) return isDeepStrictEqual(shown[key], value);
    return key === "run_id" && typeof value === "string" && info.run === idOf(value);
  });
}
