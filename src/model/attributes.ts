/** A value by which threads are found. A string takes up to 256 bytes of UTF-8, a number is finite. */
export type AttributeValue = string | number | boolean;

/** Small values of a thread, by name, for finding it: up to 16. */
export interface Attributes {
  readonly [name: string]: AttributeValue;
}

/** A change of attributes: each is set, or with null removed; the others stay. */
export interface AttributeChanges {
  readonly [name: string]: AttributeValue | null;
}

/** A condition on one attribute: all of its parts must hold. A thread without the attribute never matches. */
export interface AttributeCondition {
  readonly eq?: AttributeValue;
  readonly ne?: AttributeValue;
  /** Greater, of the same type: numbers by value, strings bytewise, false before true. */
  readonly gt?: AttributeValue;
  readonly gte?: AttributeValue;
  readonly lt?: AttributeValue;
  readonly lte?: AttributeValue;
  readonly in?: readonly AttributeValue[];
  /** The beginning of a string. */
  readonly prefix?: string;
}

/**
 * Conditions on attributes by name; all must hold. A value alone is short for `{ eq: value }`.
 *
 * @example
 * store.threads({ where: { tenant: "acme", cost: { gt: 1 }, open: true } });
 */
export interface Where {
  readonly [name: string]: AttributeValue | AttributeCondition;
}

/** The most attributes of a thread, and the most bytes of a name and of a text. */
export const attributeLimits = { count: 16, nameBytes: 64, textBytes: 256 } as const;

/** Returns the attributes after a change. */
export function withAttributes(before: Attributes | undefined, changes: AttributeChanges): Attributes | undefined {
  const after: Record<string, AttributeValue> = Object.assign(Object.create(null), before);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete after[name];
    // Negative zero is found under zero.
    else after[name] = value === 0 ? 0 : value;
  }
  const names = Object.keys(after);
  if (names.length > attributeLimits.count) {
    throw new TypeError(
      `attributes: the thread would have ${names.length}, and may have ${attributeLimits.count}. Remove some by setting them to null.`,
    );
  }
  return names.length === 0 ? undefined : after;
}

/** Tells whether attributes meet all conditions. */
export function matches(attributes: Attributes | undefined, where: Where): boolean {
  return Object.entries(where).every(([name, condition]) => {
    if (attributes === undefined || !Object.hasOwn(attributes, name)) return false;
    return meets(attributes[name] as AttributeValue, conditionOf(condition));
  });
}

/** Returns a condition in its long form. */
export function conditionOf(condition: AttributeValue | AttributeCondition): AttributeCondition {
  return typeof condition === "object" ? condition : { eq: condition };
}

function meets(value: AttributeValue, condition: AttributeCondition): boolean {
  const { eq, ne, gt, gte, lt, lte, prefix } = condition;
  if (eq !== undefined && value !== eq) return false;
  if (ne !== undefined && value === ne) return false;
  if (condition.in !== undefined && !condition.in.includes(value)) return false;
  if (prefix !== undefined && !(typeof value === "string" && value.startsWith(prefix))) return false;
  if (gt !== undefined && !(order(value, gt) > 0)) return false;
  if (gte !== undefined && !(order(value, gte) >= 0)) return false;
  if (lt !== undefined && !(order(value, lt) < 0)) return false;
  return lte === undefined || order(value, lte) <= 0;
}

/** Compares values of one type; NaN, which no comparison holds for, where the types differ. */
function order(left: AttributeValue, right: AttributeValue): number {
  if (typeof left !== typeof right) return Number.NaN;
  if (typeof left === "string") return compareText(left, right as string);
  return Number(left) - Number(right);
}

/** Compares by code points, which is the order of the bytes of UTF-8. */
function compareText(left: string, right: string): number {
  const [first, second] = [[...left], [...right]];
  for (let index = 0; index < Math.min(first.length, second.length); index += 1) {
    const difference =
      ((first[index] as string).codePointAt(0) as number) - ((second[index] as string).codePointAt(0) as number);
    if (difference !== 0) return difference;
  }
  return first.length - second.length;
}
