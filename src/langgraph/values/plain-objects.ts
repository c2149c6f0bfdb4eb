/** Tells whether an array has no holes and no further properties. Others are left to the store, which refuses them. */
export function isPlainArray(value: unknown[]): boolean {
  const { length } = value;
  // Values are cheaper than keys, which turn every index into a string. A hole and a further property cancel out here.
  if (Object.values(value).length !== length) return false;
  if (!value.includes(undefined)) return true;
  const keys = Object.keys(value);
  // Indexes come first among the keys, in order.
  return keys.length === length && keys[length - 1] === String(length - 1);
}

/** Tells whether an object has no accessors and no hidden properties. Others are left to the store, which refuses them. */
export function hasPlainFields(value: object): boolean {
  return Reflect.ownKeys(value).every((key) => {
    const property = Object.getOwnPropertyDescriptor(value, key);
    return typeof key === "string" && property?.enumerable === true && "value" in property;
  });
}
