import { Document } from "@langchain/core/documents";
import {
  AIMessage,
  AIMessageChunk,
  BaseMessage,
  ChatMessage,
  ChatMessageChunk,
  FunctionMessage,
  FunctionMessageChunk,
  HumanMessage,
  HumanMessageChunk,
  RemoveMessage,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
} from "@langchain/core/messages";
import { ChatPromptValue, StringPromptValue } from "@langchain/core/prompt_values";
import * as checkpointPackage from "@langchain/langgraph-checkpoint";

/**
 * A class whose instances are stored and restored here. An instance of any other class goes to the store as it is, which
 * refuses it unless the class was registered with `open(url, { classes })`.
 */
export interface KnownClass {
  /** The name in storage. */
  readonly name: string;
  readonly prototype: object;
  /** Own properties in the order of the constructor, read from an instance because they differ between versions. */
  readonly keys: readonly string[];
  readonly symbols: readonly symbol[];
  /** Properties that hold data. */
  readonly fields: readonly Field[];
  /** Properties with the same value in every instance. */
  readonly constants: readonly Constant[];
  /** True if instances keep the constructor's arguments in `lc_kwargs`. */
  readonly kwargs: boolean;
  /** Further facts about a class of messages; undefined for other classes. */
  readonly message: MessageClass | undefined;
}

/** A class of messages, with the fields that it has beyond those of all messages. */
export interface MessageClass {
  readonly type: unknown;
  readonly fields: readonly Field[];
  /** The keys of the `lc_kwargs` that were seen last, their letters, and the keys that not all messages have there. */
  made: { readonly keys: readonly string[]; readonly letters: string; readonly rest: readonly string[] };
}

export interface Field {
  readonly key: string;
  /** The field is usually `{}` or `[]`, which is then not stored. */
  readonly usual: "object" | "array" | undefined;
}

export interface Constant {
  readonly key: string;
  readonly value: unknown;
}

const messageFields = ["id", "name", "content", "additional_kwargs", "response_metadata"];

const constantKeys = new Set(["lc_serializable", "lc_namespace", "lc_direct_tool_output", "type", "lg_name"]);

function describe(name: string, sample: object): KnownClass {
  const entries = Object.entries(sample);
  const fields = entries
    .filter(([key]) => key !== "lc_kwargs" && !constantKeys.has(key))
    .map(([key, value]) => ({ key, usual: usualOf(value) }));
  return {
    name,
    prototype: Object.getPrototypeOf(sample) as object,
    keys: Object.keys(sample),
    symbols: Object.getOwnPropertySymbols(sample),
    fields,
    constants: entries.filter(([key]) => constantKeys.has(key)).map(([key, value]) => ({ key, value })),
    kwargs: "lc_kwargs" in sample,
    message: messageClass(sample, fields),
  };
}

function messageClass(sample: object, fields: readonly Field[]): MessageClass | undefined {
  const { type } = sample as { readonly type?: unknown };
  if (!messageFields.every((key, index) => fields[index]?.key === key)) return undefined;
  const rest = fields.slice(messageFields.length);
  return { type, fields: rest, made: { keys: [], letters: "", rest: [] } };
}

function usualOf(value: unknown): "object" | "array" | undefined {
  if (Array.isArray(value)) return "array";
  return typeof value === "object" && value !== null ? "object" : undefined;
}

const content = { content: "" };

const messages: readonly KnownClass[] = [
  describe("HumanMessage", new HumanMessage({ ...content })),
  describe("HumanMessageChunk", new HumanMessageChunk({ ...content })),
  describe("AIMessage", new AIMessage({ ...content })),
  describe("AIMessageChunk", new AIMessageChunk({ ...content })),
  describe("SystemMessage", new SystemMessage({ ...content })),
  describe("SystemMessageChunk", new SystemMessageChunk({ ...content })),
  describe("ToolMessage", new ToolMessage({ ...content, tool_call_id: "" })),
  describe("ToolMessageChunk", new ToolMessageChunk({ ...content, tool_call_id: "" })),
  describe("FunctionMessage", new FunctionMessage({ ...content, name: "" })),
  describe("FunctionMessageChunk", new FunctionMessageChunk({ ...content, name: "" })),
  describe("ChatMessage", new ChatMessage({ ...content, role: "" })),
  describe("ChatMessageChunk", new ChatMessageChunk({ ...content, role: "" })),
  describe("RemoveMessage", new RemoveMessage({ id: "" })),
];

const document = describe("Document", new Document({ pageContent: "" }));

const others: readonly KnownClass[] = [
  document,
  describe("StringPromptValue", new StringPromptValue("")),
  describe("ChatPromptValue", new ChatPromptValue([])),
  // The oldest supported version lacks this class.
  ...("DeltaSnapshot" in checkpointPackage ? [describe("DeltaSnapshot", new checkpointPackage.DeltaSnapshot(""))] : []),
];

const byName = new Map([...messages, ...others].map((known) => [known.name, known]));
const messageNames = new Set(messages.map((known) => known.name));
const byPrototype = new Map<object, KnownClass>([...byName.values()].map((known) => [known.prototype, known]));

export function classNamed(name: string): KnownClass | undefined {
  return byName.get(name);
}

/** Returns the class with this prototype, if it is known by now. */
export function knownClass(prototype: object): KnownClass | undefined {
  return byPrototype.get(prototype);
}

/** Returns the class of an instance, if it is a known one. `prototype` is that of the instance. */
export function classOf(value: object, prototype: object): KnownClass | undefined {
  return byPrototype.get(prototype) ?? classOfTwin(value, prototype);
}

/** Finds a class by its name and properties, for a package that is loaded twice (as ESM and CommonJS, or in two versions). */
function classOfTwin(value: object, prototype: object): KnownClass | undefined {
  const name = uniqueName(prototype.constructor);
  const known = name === undefined ? undefined : byName.get(name);
  if (known === undefined) return undefined;
  const isMessage = messageNames.has(known.name);
  const same = isMessage ? BaseMessage.isInstance(value) : Object.keys(value).join() === known.keys.join();
  if (!same) return undefined;
  byPrototype.set(prototype, known);
  return known;
}

interface Named {
  readonly name: string;
  readonly lc_name?: () => string;
}

/** Returns the name that a class gives itself; undefined for a subclass that inherits its name, and so is another class. */
function uniqueName(constructor: unknown): string | undefined {
  if (typeof constructor !== "function") return undefined;
  const { name, lc_name } = constructor as unknown as Named;
  const parent = Object.getPrototypeOf(constructor) as Partial<Named> | null;
  if (typeof lc_name !== "function") return name;
  const own = lc_name.call(constructor);
  if (typeof parent?.lc_name !== "function" || parent.lc_name.call(parent) !== own) return own;
  return name === "RemoveMessage" ? name : undefined;
}
