/** How a path continues from a value to a value it holds: a property, an index, or a symbol below. */
export type ValueStep = string | number | typeof inside | typeof entries | typeof members;

/**
 * A level of the tree that has no counterpart in the value: the data of a class, the properties of an escaped object.
 */
export const inside: unique symbol = Symbol("inside");
/** From a Map to the list of its entries; an index and 0 (the key) or 1 (the value) follow. */
export const entries: unique symbol = Symbol("entries");
/** From a Set to the list of its members; an index follows. */
export const members: unique symbol = Symbol("members");

const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** Formats `.key` or `["a key"]`. */
function property(key: string): string {
  return identifier.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/** Formats a path like the expression that leads there: `state.files.get("a.txt")[3].callback`. */
export function formatPath(root: string, steps: readonly ValueStep[], holders: readonly unknown[]): string {
  let text = root;
  for (let level = 0; level < steps.length; level++) {
    const step = steps[level];
    if (typeof step === "string") text += property(step);
    else if (typeof step === "number") text += `[${step}]`;
    else if (step === members && level + 1 < steps.length) text += `.values()[${String(steps[++level])}]`;
    else if (step === entries && level + 2 < steps.length) {
      const index = Number(steps[++level]);
      text += steps[++level] === 0 ? `.keys()[${index}]` : mapValue(holders[level], index);
    }
  }
  return text;
}

function mapValue(entry: unknown, index: number): string {
  const key: unknown = Array.isArray(entry) ? entry[0] : undefined;
  if (typeof key === "string") return `.get(${JSON.stringify(key)})`;
  if (typeof key === "bigint") return `.get(${key}n)`;
  if (typeof key === "object" || typeof key === "function" || typeof key === "symbol") return `.values()[${index}]`;
  return `.get(${String(key)})`;
}
