import { AssertionError } from "node:assert";

/**
 * Fails unless the two values are equal in every respect that a store promises to keep: types, prototypes, the order of
 * keys, entries and elements, −0, NaN, an error's own fields. Stricter than `deepStrictEqual`, and it names the path.
 *
 * @example
 * exact((await thread.latest())?.state, { text: "hello" });
 */
export function exact(actual: unknown, expected: unknown, message = "value"): void {
  const found = difference(actual, expected, "");
  if (found === undefined) return;
  throw new AssertionError({
    message: `${message} differs at ${found.path === "" ? "the top" : found.path}: ${found.what}`,
    actual,
    expected,
    operator: "exact",
  });
}

interface Difference {
  readonly path: string;
  readonly what: string;
}

/** Returns where two values first differ, or undefined. */
function difference(actual: unknown, expected: unknown, path: string): Difference | undefined {
  if (Object.is(actual, expected)) return undefined;
  if (typeof actual !== "object" || typeof expected !== "object" || actual === null || expected === null) {
    return { path, what: `${show(actual)} instead of ${show(expected)}` };
  }
  const prototype = Object.getPrototypeOf(actual);
  if (prototype !== Object.getPrototypeOf(expected)) {
    return { path, what: `a ${kind(actual)} instead of a ${kind(expected)}` };
  }
  // Plain objects and lists, the usual case, have fields only.
  const plain = prototype === Object.prototype || prototype === Array.prototype;
  const contents = plain ? undefined : differentContents(actual, expected, path);
  if (contents !== undefined) return contents;
  return ArrayBuffer.isView(actual) ? undefined : differentFields(actual, expected, path);
}

function differentContents(actual: object, expected: object, path: string): Difference | undefined {
  if (actual instanceof Date && expected instanceof Date) {
    return difference(actual.getTime(), expected.getTime(), `${path}.getTime()`);
  }
  if (actual instanceof RegExp || actual instanceof URL) {
    return difference(String(actual), String(expected), `${path}.toString()`);
  }
  if (actual instanceof Map && expected instanceof Map) {
    return difference([...actual], [...expected], `${path}.entries()`);
  }
  if (actual instanceof Set && expected instanceof Set) {
    return difference([...actual], [...expected], `${path}.values()`);
  }
  if (actual instanceof Error && expected instanceof Error) {
    return (
      difference(actual.message, expected.message, `${path}.message`) ??
      difference(actual.name, expected.name, `${path}.name`) ??
      difference(Object.hasOwn(actual, "cause"), Object.hasOwn(expected, "cause"), `has ${path}.cause`) ??
      difference(actual.cause, expected.cause, `${path}.cause`)
    );
  }
  const bytes = bytesOf(actual);
  const expectedBytes = bytesOf(expected);
  if (bytes !== undefined && expectedBytes !== undefined && !equalBytes(bytes, expectedBytes)) {
    return { path, what: "other bytes" };
  }
  return undefined;
}

/**
 * Compares own enumerable properties, in order. For arrays these are the elements, so a hole shows as a missing key.
 */
function differentFields(actual: object, expected: object, path: string): Difference | undefined {
  const keys = Object.keys(actual);
  const expectedKeys = Object.keys(expected);
  if (Array.isArray(actual) && Array.isArray(expected) && actual.length !== expected.length) {
    return { path, what: `${actual.length} elements instead of ${expected.length}` };
  }
  if (keys.length !== expectedKeys.length || keys.some((key, index) => key !== expectedKeys[index])) {
    return { path, what: `keys ${show(keys)} instead of ${show(expectedKeys)}` };
  }
  for (const key of keys) {
    const field = Reflect.get(actual, key);
    const expectedField = Reflect.get(expected, key);
    if (Object.is(field, expectedField)) continue;
    const step = Array.isArray(actual) ? `[${key}]` : `.${key}`;
    const found = difference(field, expectedField, path + step);
    if (found !== undefined) return found;
  }
  return undefined;
}

function bytesOf(value: object): Uint8Array | undefined {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return undefined;
}

function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

function kind(value: object): string {
  return Object.getPrototypeOf(value) === null ? "null-prototype object" : value.constructor.name;
}

function show(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  if (Object.is(value, -0)) return "-0";
  if (typeof value !== "string" && typeof value !== "object") return String(value);
  const text = JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? `${inner}n` : inner)) ?? String(value);
  return text.length > 300 ? `${text.slice(0, 300)}… (${text.length} characters)` : text;
}
