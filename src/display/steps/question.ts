import type { Checkpoint, Write } from "../../model/checkpoint.ts";
import { controlIndexes } from "../../model/control-writes.ts";
import { isPlainObject } from "../../platform/plain-objects.ts";
import { previewOf } from "../values/preview.ts";
import { type Fields, own, textAt } from "../values/records.ts";

/** An answer that a question offers. */
export interface Choice {
  readonly label: string;
  readonly value: unknown;
}

/** A field of the form that an answer's schema asks for. */
export interface FormField {
  readonly name: string;
  readonly title: string;
  readonly type: "text" | "number" | "flag" | "choice" | "json";
  readonly choices?: readonly Choice[];
  readonly required: boolean;
  readonly about: string | undefined;
}

/** How a question can be answered. */
export type AnswerForm =
  | { readonly kind: "choices"; readonly choices: readonly Choice[] }
  | { readonly kind: "form"; readonly fields: readonly FormField[] }
  | { readonly kind: "yes-no" }
  | { readonly kind: "text" };

/** A question that a thread waits with, as a person reads it. */
export interface ShownQuestion {
  readonly id: string;
  readonly node: string | null;
  readonly text: string;
  /** The rest of the value beside the text and the answers it offers; undefined if there is none. */
  readonly details: unknown;
  readonly form: AnswerForm;
  /** True if LangGraph asked: it takes the answer as `Command({ resume })`, not from the store. */
  readonly langgraph: boolean;
  /** True if the store has an answer that no run has taken yet. */
  readonly answered: boolean;
}

/** Returns the questions of a checkpoint: its interrupts, and the open ones that LangGraph keeps among its writes. */
export function questionsOf(
  { interrupts, next }: Pick<Checkpoint, "interrupts" | "next">,
  writes: readonly Write[],
): readonly ShownQuestion[] {
  const finished = new Set(writes.filter(({ index }) => index >= 0).map(({ task }) => task));
  const answered = new Set(writes.filter(({ index }) => index === controlIndexes.resume).map(({ task }) => task));
  const own = interrupts.map(({ id, node, value }) => ({
    ...question(id, node, value, false),
    answered: answered.has(id),
  }));
  const known = new Set(own.map(({ id }) => id));
  for (const write of writes) {
    if (write.index !== controlIndexes.interrupt || finished.has(write.task)) continue;
    // The runtime keeps its questions with the checkpoint too; LangGraph's are here only, and only while something is next.
    if (write.channel !== "__interrupt__" || next.length === 0) continue;
    for (const [position, asked] of listOf(write.value).entries()) {
      const id =
        (isPlainObject(asked) ? (textAt(asked, "id") ?? textAt(asked, "interrupt_id")) : undefined) ??
        `${write.task}#${position}`;
      if (known.has(id) || answered.has(write.task)) continue;
      const value = isPlainObject(asked) && Object.hasOwn(asked, "value") ? asked["value"] : asked;
      const node = write.node ?? (next.length === 1 ? (next[0]?.node ?? null) : null);
      own.push(question(id, node, value, true));
    }
  }
  return own;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

const TEXTS = ["question", "prompt", "message", "text", "title", "ask", "description", "instructions"];

function question(id: string, node: string | null, value: unknown, langgraph: boolean): ShownQuestion {
  const fields = isPlainObject(value) ? value : undefined;
  const key = fields && TEXTS.find((name) => typeof own(fields, name) === "string");
  const text =
    typeof value === "string"
      ? value
      : fields && key
        ? (own(fields, key) as string)
        : (reviewText(fields) ?? previewOf(value, 120));
  const form = formOf(fields, text);
  return { id, node, text, details: detailsOf(value, key), form, langgraph, answered: false };
}

/** Keys that say how a question is to be answered. */
const OFFERS = [
  "choices",
  "options",
  "answers",
  "allowed",
  "schema",
  "answerSchema",
  "answer_schema",
  "responseSchema",
  "response_schema",
];

function detailsOf(value: unknown, textKey: string | undefined): unknown {
  if (!isPlainObject(value)) return typeof value === "object" && value !== null ? value : undefined;
  const rest = Object.entries(value).filter(([key]) => key !== textKey && !OFFERS.includes(key));
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

function formOf(fields: Fields | undefined, text: string): AnswerForm {
  if (fields !== undefined) {
    const review = reviewChoices(fields);
    if (review !== undefined) return { kind: "choices", choices: review };
    for (const key of ["choices", "options", "answers", "allowed"]) {
      const choices = choicesIn(own(fields, key));
      if (choices.length > 0) return { kind: "choices", choices };
    }
    for (const key of ["schema", "answerSchema", "answer_schema", "responseSchema", "response_schema"]) {
      const form = schemaForm(own(fields, key));
      if (form !== undefined) return form;
    }
    const type = textAt(fields, "type") ?? textAt(fields, "kind");
    if (type !== undefined && /^(?:boolean|confirm|approval|yes-?no)$/i.test(type)) return { kind: "yes-no" };
    if (type !== undefined && /^(?:text|string|input)$/i.test(type)) return { kind: "text" };
  }
  return isYesNo(text) ? { kind: "yes-no" } : { kind: "text" };
}

/** A word that asks for a thing or a person, at the beginning or behind the name of whoever is asked. */
const OPEN = /(?:^|,\s*)(?:what|which|who|whom|whose|where|when|why|how|please|tell|enter|give|name|describe)\b/i;

/** Guesses that a text ending with a question mark, which asks for no thing or person, wants a yes or a no. */
function isYesNo(text: string): boolean {
  const last =
    text
      .trim()
      .split(/(?<=[.!\n])\s+/)
      .at(-1) ?? "";
  if (!last.endsWith("?")) return false;
  return /\byes or no\b/i.test(last) || (!OPEN.test(last) && !/\bor\b/i.test(last));
}

function choicesIn(value: unknown): readonly Choice[] {
  if (Array.isArray(value)) return value.slice(0, 24).map(choice);
  if (isPlainObject(value))
    return Object.entries(value)
      .slice(0, 24)
      .map(([key, label]) => ({ label: typeof label === "string" ? label : key, value: key }));
  return [];
}

function choice(value: unknown): Choice {
  if (isPlainObject(value) && Object.hasOwn(value, "value"))
    return {
      label: textAt(value, "label") ?? textAt(value, "title") ?? previewOf(value["value"], 40),
      value: value["value"],
    };
  return { label: typeof value === "string" ? value : previewOf(value, 40), value };
}

/** Returns the form of a JSON schema: of an object its fields, of a list of values its choices. */
function schemaForm(schema: unknown): AnswerForm | undefined {
  if (!isPlainObject(schema)) return undefined;
  const values = own(schema, "enum");
  if (Array.isArray(values) && values.length > 0) return { kind: "choices", choices: values.map(choice) };
  const type = textAt(schema, "type");
  if (type === "boolean") return { kind: "yes-no" };
  if (type === "string") return { kind: "text" };
  const properties = own(schema, "properties");
  if (!isPlainObject(properties)) return undefined;
  const required = own(schema, "required");
  const fields = Object.entries(properties).map(([name, field]) =>
    formField(name, isPlainObject(field) ? field : {}, Array.isArray(required) && required.includes(name)),
  );
  return fields.length === 0 ? undefined : { kind: "form", fields };
}

function formField(name: string, schema: Fields, required: boolean): FormField {
  const values = own(schema, "enum");
  const type = textAt(schema, "type");
  const base = { name, title: textAt(schema, "title") ?? name, required, about: textAt(schema, "description") };
  if (Array.isArray(values) && values.length > 0) return { ...base, type: "choice", choices: values.map(choice) };
  if (type === "boolean") return { ...base, type: "flag" };
  if (type === "number" || type === "integer") return { ...base, type: "number" };
  return { ...base, type: type === "string" ? "text" : "json" };
}

/** Returns the decisions that LangChain's reviews of tool calls allow, as their middleware and Agent Inbox expect them. */
function reviewChoices(fields: Fields): readonly Choice[] | undefined {
  const requests = own(fields, "actionRequests") ?? own(fields, "action_requests");
  const configs = own(fields, "reviewConfigs") ?? own(fields, "review_configs");
  if (Array.isArray(requests) && Array.isArray(configs)) {
    const first: unknown = configs[0];
    const allowed = isPlainObject(first)
      ? (own(first, "allowedDecisions") ?? own(first, "allowed_decisions"))
      : undefined;
    const decisions = Array.isArray(allowed)
      ? allowed.filter((one) => one === "approve" || one === "reject")
      : ["approve", "reject"];
    return decisions.map((type: string) => ({ label: type, value: { decisions: requests.map(() => ({ type })) } }));
  }
  const config = own(fields, "config");
  if (!isPlainObject(own(fields, "action_request")) || !isPlainObject(config)) return undefined;
  return ["accept", "ignore"]
    .filter((type) => own(config, `allow_${type}`) === true)
    .map((type) => ({ label: type, value: [{ type, args: null }] }));
}

function reviewText(fields: Fields | undefined): string | undefined {
  if (fields === undefined) return undefined;
  const requests = own(fields, "actionRequests") ?? own(fields, "action_requests");
  const one = own(fields, "action_request");
  const list = Array.isArray(requests) ? requests : one === undefined ? [] : [one];
  const names = list
    .flatMap((request) => (isPlainObject(request) ? [textAt(request, "name") ?? textAt(request, "action") ?? ""] : []))
    .filter((name) => name !== "");
  return names.length === 0 ? undefined : `Review: ${names.join(", ")}`;
}
