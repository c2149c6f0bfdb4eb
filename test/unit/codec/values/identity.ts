/**
 * Where two values first differ in anything a store promises to keep: type, prototype, the own properties with their
 * order and enumerability, entries and their order, bytes, −0. Undefined if nowhere.
 */
export function difference(actual: unknown, expected: unknown, path = "value"): string | undefined {
  if (Object.is(actual, expected)) return isReference(actual) ? `${path}: the same object` : undefined;
  if (!isReference(actual) || !isReference(expected)) return `${path}: ${show(actual)}, not ${show(expected)}`;
  if (Object.getPrototypeOf(actual) !== Object.getPrototypeOf(expected)) return `${path}: another prototype`;
  if (Object.prototype.toString.call(actual) !== Object.prototype.toString.call(expected))
    return `${path}: another brand`;
  return differentContents(actual, expected, path) ?? differentProperties(actual, expected, path);
}

function isReference(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function show(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : Object.is(value, -0) ? "-0" : String(value);
}

/** Compares the contents of internal slots; returns the path of the first difference. */
function differentContents(actual: object, expected: object, path: string): string | undefined {
  if (actual instanceof Date) return difference(actual.getTime(), (expected as Date).getTime(), `${path}.getTime()`);
  if (actual instanceof RegExp) return difference(String(actual), String(expected), `${path}.toString()`);
  if (actual instanceof URL) return difference(actual.href, (expected as URL).href, `${path}.href`);
  if (actual instanceof URLSearchParams) {
    return difference([...actual], [...(expected as URLSearchParams)], `${path}.entries()`);
  }
  if (actual instanceof Map) return differentLists([...actual], [...(expected as typeof actual)], `${path}.entries()`);
  if (actual instanceof Set) return differentLists([...actual], [...(expected as typeof actual)], `${path}.values()`);
  if (actual instanceof ArrayBuffer) return differentBytes(actual, expected as ArrayBuffer, path);
  if (ArrayBuffer.isView(actual)) {
    const other = expected as ArrayBufferView;
    const bytes = (view: ArrayBufferView): ArrayBuffer =>
      new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice().buffer;
    return differentBytes(bytes(actual), bytes(other), path);
  }
  return undefined;
}

function differentLists(actual: unknown[], expected: unknown[], path: string): string | undefined {
  return difference(actual, expected, path);
}

function differentBytes(actual: ArrayBuffer, expected: ArrayBuffer, path: string): string | undefined {
  return Buffer.compare(new Uint8Array(actual), new Uint8Array(expected)) === 0 ? undefined : `${path}: other bytes`;
}

function differentProperties(actual: object, expected: object, path: string): string | undefined {
  if (ArrayBuffer.isView(actual) && !(actual instanceof DataView)) return undefined;
  const keys = ownKeys(actual);
  const expectedKeys = ownKeys(expected);
  if (keys.join("\n") !== expectedKeys.join("\n")) return `${path}: the keys ${keys}, not ${expectedKeys}`;
  for (const key of Reflect.ownKeys(actual)) {
    const found = difference(Reflect.get(actual, key), Reflect.get(expected, key), `${path}.${String(key)}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Enumerable keys in their order, then the others, whose order nobody can see. */
function ownKeys(value: object): string[] {
  const hidden = Reflect.ownKeys(value).filter((key) => !Object.prototype.propertyIsEnumerable.call(value, key));
  return [...Object.keys(value), "hidden:", ...hidden.map(String).sort()];
}
