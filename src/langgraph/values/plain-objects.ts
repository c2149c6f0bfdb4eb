/** An array with holes or other properties is left to the store, which refuses it. */
export function isOrdinaryArray(value: unknown[]): boolean {
  const { length } = value;
  // Cheaper than keys, for which every index is made a string. A hole, which would make up for another key, is undefined.
  if (Object.values(value).length !== length) return false;
  if (!value.includes(undefined)) return true;
  const keys = Object.keys(value);
  // Indices come first, in order.
  return keys.length === length && keys[length - 1] === String(length - 1);
}

/** An object with accessors or hidden properties is left to the store, which refuses it. */
export function isOrdinaryObject(value: object): boolean {
  return Reflect.ownKeys(value).every((key) => {
    const property = Object.getOwnPropertyDescriptor(value, key);
    return typeof key === "string" && property?.enumerable === true && "value" in property;
  });
}
