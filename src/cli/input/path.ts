import { pathText } from "../../display/quantities.ts";
import { assign } from "../../platform/plain-objects.ts";
import { usage } from "../failure.ts";

export { pathText };

const STEP = /\.?([A-Za-z_$][\w$-]*)|\[(-?\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;

/** Parses a path as people write it: `messages[0].text`, `messages[-1]` for the last, `["a strange key"].b`. */
export function parsePath(text: string): readonly (string | number)[] {
  const steps: (string | number)[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < text.length) {
    const start = STEP.lastIndex;
    const found = STEP.exec(text);
    const leading = start === 0 && text.startsWith(".");
    if (found === null || leading) {
      throw usage(`${JSON.stringify(text)} is no path. Write it like messages[0].text or ["a strange key"].b.`);
    }
    const [, name, index, quoted] = found;
    if (name !== undefined) steps.push(name);
    else if (index !== undefined) steps.push(Number(index));
    else steps.push(JSON.parse(quoted!) as string);
  }
  if (steps.length === 0) throw usage("The path is empty. Write it like messages[0].text.");
  return steps;
}

/** Returns the value at `path`; a negative index counts from the end of a list. Fails with a list of the names that exist. */
export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let found = value;
  for (const [depth, step] of path.entries()) {
    const inside = partOf(found, step);
    if (inside === undefined) {
      const here = pathText(path.slice(0, depth)) || "The state";
      throw usage(`${here} ${contentsOf(found)}: there is no ${JSON.stringify(step)}.`);
    }
    found = inside.value;
  }
  return found;
}

function partOf(value: unknown, step: string | number): { readonly value: unknown } | undefined {
  if (Array.isArray(value)) {
    const index = typeof step === "number" && step < 0 ? value.length + step : step;
    return typeof index === "number" && index >= 0 && index < value.length ? { value: value[index] } : undefined;
  }
  if (value instanceof Map) return value.has(step) ? { value: value.get(step) } : undefined;
  if (value === null || typeof value !== "object" || !Object.hasOwn(value, step)) return undefined;
  return { value: (value as Record<string | number, unknown>)[step] };
}

const MOST_NAMES = 12;

/** Says which parts a value has. */
function contentsOf(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "is an empty list" : `is a list of ${value.length}`;
  if (value === null || typeof value !== "object") return "has no parts";
  const names = value instanceof Map ? [...value.keys()].map(String) : Object.keys(value);
  const shown = names.slice(0, MOST_NAMES).join(", ");
  return names.length === 0 ? "is empty" : `has ${shown}${names.length > MOST_NAMES ? ", …" : ""}`;
}

/** Returns a copy of a value with another value at `path`. Everything on the way must exist. */
export function withValueAt(
  value: unknown,
  path: readonly (string | number)[],
  replacement: unknown,
  done = 0,
): unknown {
  const step = path[done];
  if (step === undefined) return replacement;
  const here = path.slice(0, done);
  const inside = (child: unknown): unknown => withValueAt(child, path, replacement, done + 1);
  if (Array.isArray(value)) {
    if (typeof step !== "number" || step > value.length || step < 0) {
      throw usage(
        `${pathText(here) || "The state"} is a list of ${value.length}: ${JSON.stringify(step)} is no place in it.`,
      );
    }
    const copy: unknown[] = [...value];
    copy[step] = inside(value[step]);
    return copy;
  }
  if (value instanceof Map) {
    const copy = new Map<unknown, unknown>(value);
    copy.set(step, inside(value.get(step)));
    return copy;
  }
  const prototype: unknown = value !== null && typeof value === "object" ? Object.getPrototypeOf(value) : undefined;
  if (prototype !== Object.prototype && prototype !== null) {
    throw usage(`${pathText(here) || "The state"} has no parts: set it as a whole.`);
  }
  const copy = Object.create(prototype as object | null) as Record<string, unknown>;
  for (const [key, part] of Object.entries(value as object)) assign(copy, key, part);
  assign(
    copy,
    String(step),
    inside(Object.hasOwn(value as object, step) ? (value as Record<string, unknown>)[step] : undefined),
  );
  return copy;
}
