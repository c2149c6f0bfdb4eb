/**
 * Returns a value as text, so that the results of two savers in two processes can be compared: keys sorted, classes and
 * types named. Random ids and the constructor arguments of messages, which differ from run to run, are made alike.
 */
export function describe(value: unknown): string {
  return JSON.stringify(plain(value), null, 1)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "uuid")
    .replaceAll(/\b[0-9a-f]{32}\b/g, "hash");
}

const forgotten = new Set(["lc_kwargs", "lc_serializable", "lc_namespace"]);

function plain(value: unknown): unknown {
  if (value === undefined) return { type: "undefined" };
  if (typeof value === "bigint") return { type: "bigint", value: String(value) };
  if (typeof value === "function") return { type: "function" };
  if (typeof value === "number" && !Number.isFinite(value)) return { type: "number", value: String(value) };
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Date) return { type: "Date", value: value.toISOString() };
  if (value instanceof Map) return { type: "Map", value: [...value].map(plain) };
  if (value instanceof Set) return { type: "Set", value: [...value].map(plain) };
  if (value instanceof Error) return { type: value.constructor.name, message: value.message };
  const prototype: unknown = Object.getPrototypeOf(value);
  const fields = Object.entries(value)
    .filter(([key, field]) => !forgotten.has(key) && field !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, field]) => [key, plain(field)]);
  const object = Object.fromEntries(fields) as object;
  return prototype === Object.prototype || prototype === null ? object : { class: value.constructor.name, ...object };
}
