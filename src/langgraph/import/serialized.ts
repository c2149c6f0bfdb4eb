import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { ThreadmarkError } from "../../errors.ts";
import { Unreadable } from "./saver-database.ts";

/** The types of values that savers of LangGraph.js write. Others come from LangGraph for Python or from custom serializers. */
const readable = new Set(["json", "bytes", "empty"]);

/** Refuses a database with values of a type that cannot be read. `type` is that of any of its values. */
export function checkType(place: string, type: unknown): void {
  if (type === undefined || type === null || readable.has(String(type))) return;
  throw new ThreadmarkError(
    "UNSUPPORTED",
    `${place} holds values of the type ${JSON.stringify(type)}, which LangGraph.js does not write by itself: that of LangGraph for Python ` +
      "is msgpack. Import databases of LangGraph.js with its own serializer.",
  );
}

/** The default serializer of LangGraph's savers, which the package does not export by name. */
const { serde: serializer } = new MemorySaver();

/** Deserializes a value as the savers do. */
export async function deserialize(type: string | null, data: string | Uint8Array): Promise<unknown> {
  try {
    return await serializer.loadsTyped(type ?? "json", data);
  } catch (cause) {
    throw new Unreadable(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Returns a checkpoint or its metadata. A saver that could not serialize one has put a text in its place, which is refused. */
export function asObject(value: unknown, what: string): object {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  const shown = typeof value === "string" ? `the text ${JSON.stringify(value.slice(0, 80))}` : String(value);
  throw new Unreadable(`in place of ${what} there is ${shown}`);
}
