import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { ThreadmarkError } from "../../errors.ts";
import { Unreadable } from "./source.ts";

/** What savers of LangGraph.js write under. Others are those of LangGraph for Python, or of somebody's own serializer. */
const readable = new Set(["json", "bytes", "empty"]);

/** Refuses a database whose values are of a kind that cannot be read. `type` is that of any of them. */
export function checkType(place: string, type: unknown): void {
  if (type === undefined || type === null || readable.has(String(type))) return;
  throw new ThreadmarkError(
    "UNSUPPORTED",
    `${place} holds values of the type ${JSON.stringify(type)}, which LangGraph.js does not write by itself: that of LangGraph for Python ` +
      "is msgpack. Databases of LangGraph.js with its own serializer can be imported.",
  );
}

/** The serializer that every saver has unless it is given another; the package does not export it by name. */
const { serde: serializer } = new MemorySaver();

/** Reads a value as the savers do. */
export async function deserialize(type: string | null, data: string | Uint8Array): Promise<unknown> {
  try {
    return await serializer.loadsTyped(type ?? "json", data);
  } catch (cause) {
    throw new Unreadable(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** A checkpoint or its metadata, which a saver that could not serialize them has replaced by a text. */
export function asObject(value: unknown, what: string): object {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  const shown = typeof value === "string" ? `the text ${JSON.stringify(value.slice(0, 80))}` : String(value);
  throw new Unreadable(`in place of ${what} there is ${shown}`);
}
