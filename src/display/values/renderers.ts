import { isPlainObject } from "../../platform/plain-objects.ts";
import { type Fields, own, textAt } from "./records.ts";

/**
 * How values of a shape read: a renderer names them, sums them up, and chooses the fields to show. Its answers are
 * shown as text, never as markup.
 *
 * @example
 * export default [{ name: "money", matches: (v) => v?.currency, title: () => "Money", text: (v) => `${v.amount} ${v.currency}` }];
 */
export interface Renderer {
  /** The name of the renderer, for its errors. */
  readonly name: string;
  matches(value: unknown): boolean;
  /** The name in front of the value, like that of a class. @default none */
  title?(value: unknown): string;
  /** The value on a line. @default a preview of its fields */
  text?(value: unknown): string;
  /** The fields in place of the value's own keys. @default the value's keys */
  fields?(value: unknown): Fields;
}

/** A value as a renderer shows it. */
export interface Rendered {
  readonly title: string | undefined;
  readonly text: string | undefined;
  readonly fields: Fields | undefined;
}

/** LangChain's instances as the saver stores them: the class in `lc`, its bookkeeping in `kw`. */
const storedInstance: Renderer = {
  name: "LangChain instance",
  matches: (value) => isPlainObject(value) && typeof own(value, "lc") === "string" && own(value, "lc") !== "object",
  title: (value) => textAt(value as Fields, "lc") ?? "",
  fields: (value) => without(value as Fields, ["lc", "kw"]),
};

/** A plain object with a key "lc", which the saver wraps to tell it from an instance. */
const escapedObject: Renderer = {
  name: "LangChain escape",
  matches: (value) =>
    isPlainObject(value) &&
    own(value, "lc") === "object" &&
    Object.keys(value).length === 2 &&
    isPlainObject(own(value, "value")) &&
    Object.hasOwn(own(value, "value") as object, "lc"),
  fields: (value) => own(value as Fields, "value") as Fields,
};

/** LangChain's own serialized form: `{ lc: 1, type: "constructor", id: […, "AIMessage"], kwargs }`. */
const serializedInstance: Renderer = {
  name: "LangChain constructor",
  matches: (value) =>
    isPlainObject(value) &&
    own(value, "lc") === 1 &&
    own(value, "type") === "constructor" &&
    Array.isArray(own(value, "id")) &&
    isPlainObject(own(value, "kwargs")),
  title: (value) => String((own(value as Fields, "id") as readonly unknown[]).at(-1) ?? "class"),
  fields: (value) => own(value as Fields, "kwargs") as Fields,
};

const builtIn: readonly Renderer[] = [storedInstance, escapedObject, serializedInstance];

/** The renderers of an inspector: those given, then the built-in ones. The first that matches a value shows it. */
export class Renderers {
  readonly #renderers: readonly Renderer[];

  constructor(given: readonly Renderer[] = []) {
    this.#renderers = [...given, ...builtIn];
  }

  /** Returns how a value reads, or undefined for a value that reads as it is. */
  of(value: unknown): Rendered | undefined {
    if (value === null || typeof value !== "object") return undefined;
    for (const renderer of this.#renderers) {
      // A renderer of somebody else may expect another shape: a value that it fails on reads as it is.
      try {
        if (!renderer.matches(value)) continue;
        const fields = renderer.fields?.(value);
        return {
          title: renderer.title === undefined ? undefined : String(renderer.title(value)),
          text: renderer.text === undefined ? undefined : String(renderer.text(value)),
          fields: isPlainObject(fields) ? fields : undefined,
        };
      } catch {}
    }
    return undefined;
  }
}

export const plainRenderers: Renderers = new Renderers();

/** Checks what a module of renderers exports. */
export function checkRenderers(given: unknown): readonly Renderer[] {
  const fault = (message: string): TypeError =>
    new TypeError(`The renderers must be a list as the default export: ${message}`);
  if (!Array.isArray(given)) throw fault("it is no list.");
  for (const [index, renderer] of given.entries()) {
    if (renderer === null || typeof renderer !== "object") throw fault(`entry ${index} is no object.`);
    const fields = renderer as Fields;
    if (typeof fields["name"] !== "string") throw fault(`entry ${index} has no name.`);
    for (const key of ["matches", "title", "text", "fields"]) {
      if (fields[key] === undefined && key !== "matches") continue;
      if (typeof fields[key] !== "function") throw fault(`${key} of ${fields["name"]} is no function.`);
    }
  }
  return given as readonly Renderer[];
}

function without(record: Fields, keys: readonly string[]): Fields {
  const rest: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(record)) if (!keys.includes(key)) rest[key] = record[key];
  return rest;
}
