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
 * The classes that are brought back as what they were: this list and nothing else. An instance of any other class goes
 * to the store as it is, which refuses it unless the class was registered with `open(url, { classes })`.
 */
export interface KnownClass {
  /** What it is called in storage. */
  readonly name: string;
  readonly prototype: object;
  /** Own properties in the order the constructor makes them. Read from an instance: they differ between versions. */
  readonly keys: readonly string[];
  readonly symbols: readonly symbol[];
  /** Properties that are data, with what they usually are if that is `{}` or `[]`, which is then not stored. */
  readonly fields: readonly Field[];
  /** Properties every instance has alike. */
  readonly constants: readonly Constant[];
  /** Whether instances remember in `lc_kwargs` what they were made of. */
  readonly kwargs: boolean;
  /** What is known besides if it is a message. */
  readonly message: MessageClass | undefined;
}

/** A class of messages that has the fields all of them have, and these. */
export interface MessageClass {
  readonly type: unknown;
  readonly fields: readonly Field[];
  /** The keys of `lc_kwargs` that were seen last, their letters, and those that not every message is made of. */
  made: { readonly keys: readonly string[]; readonly letters: string; readonly rest: readonly string[] };
}

export interface Field {
  readonly key: string;
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
  // Not in the oldest supported version.
  ...("DeltaSnapshot" in checkpointPackage ? [describe("DeltaSnapshot", new checkpointPackage.DeltaSnapshot(""))] : []),
];

const byName = new Map([...messages, ...others].map((known) => [known.name, known]));
const messageNames = new Set(messages.map((known) => known.name));
const byPrototype = new Map<object, KnownClass>([...byName.values()].map((known) => [known.prototype, known]));

export function classNamed(name: string): KnownClass | undefined {
  return byName.get(name);
}

/** The class with this prototype, if it was met before. */
export function knownClass(prototype: object): KnownClass | undefined {
  return byPrototype.get(prototype);
}

/** The class of an instance, if it is one of the list. `prototype` is the instance's. */
export function classOf(value: object, prototype: object): KnownClass | undefined {
  return byPrototype.get(prototype) ?? classOfTwin(value, prototype);
}

/** A package may be loaded twice, as ESM and as CommonJS or in two versions: then classes are told by what they say. */
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

/** The name a class gives itself. A subclass that inherits its name is another class, and not of the list. */
function uniqueName(constructor: unknown): string | undefined {
  if (typeof constructor !== "function") return undefined;
  const { name, lc_name } = constructor as unknown as Named;
  const parent = Object.getPrototypeOf(constructor) as Partial<Named> | null;
  if (typeof lc_name !== "function") return name;
  const own = lc_name.call(constructor);
  if (typeof parent?.lc_name !== "function" || parent.lc_name.call(parent) !== own) return own;
  return name === "RemoveMessage" ? name : undefined;
}
