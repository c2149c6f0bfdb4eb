import { splitKeys } from "../../display/values/internals.ts";
import { plainRenderers } from "../../display/values/renderers.ts";
import { isPlainObject } from "../../platform/plain-objects.ts";

/** Values with more parts than this are printed as they are stored: they are shortened anyway. */
const MOST_PARTS = 20_000;

/** A state as people read it, and how much of it is LangGraph's own. */
export interface ReadableState {
  readonly state: unknown;
  /** The number of keys that LangGraph keeps for itself, which are left out. */
  readonly internals: number;
}

/** Leaves out LangGraph's own keys, and gives LangChain's instances their class names in place of the saver's notes. */
export function readableState(state: unknown): ReadableState {
  const { shown, internal } = splitKeys(state);
  if (internal.length === 0) return { state: readable(state), internals: 0 };
  const rest = Object.fromEntries(shown.map((key) => [key, (state as Record<string, unknown>)[key]]));
  return { state: readable(rest), internals: internal.length };
}

/** Gives instances of LangChain anywhere in a value their class names, as Node's `inspect` prints those. */
export function readable(value: unknown): unknown {
  const budget = { left: MOST_PARTS };
  const result = convert(value, budget);
  return budget.left < 0 ? value : result;
}

function convert(value: unknown, budget: { left: number }): unknown {
  budget.left -= 1;
  if (budget.left < 0) return value;
  if (Array.isArray(value)) return value.map((part) => convert(part, budget));
  if (value instanceof Map) return new Map([...value].map(([key, part]) => [key, convert(part, budget)]));
  if (!isPlainObject(value)) return value;
  const rendered = plainRenderers.of(value);
  const shown = Object.create(rendered?.title === undefined ? Object.prototype : prototypeOf(rendered.title)) as object;
  for (const [key, part] of Object.entries(rendered?.fields ?? value))
    Object.defineProperty(shown, key, { value: convert(part, budget), enumerable: true });
  return shown;
}

const prototypes = new Map<string, object>();

/** Returns the prototype of a class of this name; it has nothing but the name. */
function prototypeOf(name: string): object {
  const known = prototypes.get(name);
  if (known !== undefined) return known;
  const named = class {};
  Object.defineProperty(named, "name", { value: name });
  prototypes.set(name, named.prototype);
  return named.prototype;
}
