/** Node's Buffer; undefined in browsers, where a stored Buffer is read as the Uint8Array that it also is. */
export const NodeBuffer: typeof Buffer | undefined = Reflect.get(globalThis, "Buffer");
