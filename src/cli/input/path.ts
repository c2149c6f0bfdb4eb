import { usage } from "../failure.ts";

const STEP = /\.?([A-Za-z_$][\w$-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;

/** Parses a path as people write it: `messages[0].text`, `["a strange key"].b`. */
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

/** Formats a path so that {@link parsePath} reads it. */
export function pathText(path: readonly (string | number)[]): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
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
    if (typeof step !== "number" || step > value.length) {
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
  for (const [key, part] of Object.entries(value as object)) define(copy, key, part);
  define(
    copy,
    String(step),
    inside(Object.hasOwn(value as object, step) ? (value as Record<string, unknown>)[step] : undefined),
  );
  return copy;
}

/** Defines an ordinary property, even "__proto__". */
function define(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
