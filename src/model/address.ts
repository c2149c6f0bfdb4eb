import { byteLength } from "../platform/bytes.ts";

/** Ids and namespaces come from strangers: everything about them is checked here, before any I/O. */

const ID_BYTES = 512;
const NAMESPACE_BYTES = 1024;

function fault(value: string): string | undefined {
  if (value === "") return "is empty";
  if (value.includes("\0")) return "contains a NUL character";
  if (!value.isWellFormed()) return "contains a lone surrogate";
  // A UTF-16 unit takes at most three bytes of UTF-8: short strings need no counting.
  if (value.length * 3 > ID_BYTES && byteLength(value) > ID_BYTES) return `is longer than ${ID_BYTES} bytes of UTF-8`;
  return undefined;
}

/** Returns true if a string may be an id, or a part of a namespace. */
export function isId(value: string): boolean {
  return fault(value) === undefined;
}

/** Checks an id of a thread, checkpoint, run, task or holder: a non-empty, well-formed string of up to 512 bytes without NUL. */
export function checkId(value: unknown, what: string): string {
  if (typeof value !== "string")
    throw new TypeError(`${what} must be a string, not ${value === null ? "null" : typeof value}.`);
  const wrong = fault(value);
  if (wrong !== undefined) throw new TypeError(`${what} ${wrong}. Use a non-empty string of up to ${ID_BYTES} bytes.`);
  return value;
}

/** Returns true if strings may be the parts of a namespace. */
export function isNamespace(parts: readonly string[]): boolean {
  return parts.every(isId) && parts.reduce((sum, part) => sum + byteLength(part), 0) <= NAMESPACE_BYTES;
}

export function checkNamespace(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw new TypeError("A namespace must be an array of strings.");
  let bytes = 0;
  for (const [index, part] of value.entries()) {
    bytes += byteLength(checkId(part, `Part ${index} of the namespace`));
  }
  if (bytes > NAMESPACE_BYTES)
    throw new TypeError(`A namespace may have up to ${NAMESPACE_BYTES} bytes in all, not ${bytes}.`);
  return [...value];
}

/** Returns a namespace as one string: `""` for the root, else its JSON. Distinct namespaces have distinct keys. */
export function namespaceKey(namespace: readonly string[]): string {
  return namespace.length === 0 ? "" : JSON.stringify(namespace);
}

export function parseNamespaceKey(key: string): readonly string[] {
  return key === "" ? [] : (JSON.parse(key) as string[]);
}
