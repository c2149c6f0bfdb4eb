import { base64, bytesOfBase64 } from "../../../platform/bytes.ts";
import { NodeBuffer } from "../../../platform/node-buffer.ts";
import { util } from "../../../platform/node-builtins.ts";
import { RECORD_BYTES } from "../../json-text.ts";
import type { Kind } from "./kind.ts";
import { isNativePrototype } from "./native.ts";

const { isDeepStrictEqual, types } = util;

type Bytes = ArrayBuffer | ArrayBufferView;
type View = new (buffer: ArrayBufferLike, offset?: number, length?: number) => ArrayBufferView;

const names = [
  ...["Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array"],
  ...["Float16Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array"],
];

/** The typed arrays that this version of Node has. */
const typedArrays = new Map<string, View & { readonly BYTES_PER_ELEMENT: number }>();
for (const name of names) {
  const found: unknown = Reflect.get(globalThis, name);
  if (typeof found === "function") typedArrays.set(name, found as View & { readonly BYTES_PER_ELEMENT: number });
}

const brand = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get;
const bigEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 0;

/** `{"$":"bytes","type":"Uint8Array","v":"<base64>"}`: the bytes in the view, little-endian on every machine. */
export const bytes: Kind<Bytes> = {
  tag: "bytes",
  test: (value): value is Bytes => typeOf(value) !== undefined,
  encode(value, _previous, depth, encoding) {
    const type = typeOf(value)!;
    const isView = ArrayBuffer.isView(value);
    const buffer: ArrayBufferLike = isView ? value.buffer : value;
    if (types.isSharedArrayBuffer(buffer)) {
      encoding.refuse(depth, `a ${type} on shared memory`, "Store a copy of its bytes.");
    }
    if (!isView && Reflect.get(value, "resizable") === true) {
      encoding.refuse(depth, "a resizable ArrayBuffer", "Store a Uint8Array of its bytes, or buffer.slice(0).");
    }
    // A string may be too short to hold the base64.
    const stretched = Math.ceil(value.byteLength / 3) * 4;
    if (stretched > RECORD_BYTES) encoding.refuseSize(depth, `this ${type}`, stretched);
    const offset = isView ? value.byteOffset : 0;
    if (!hasOnlyBytes(value, type, buffer, offset)) {
      encoding.refuse(depth, `a ${type} with properties of its own`, "Store them beside it.");
    }
    // Throws if the buffer was transferred away; its length of 0 would be taken for the truth.
    const stored = inStoredOrder(new Uint8Array(buffer, offset, value.byteLength), widthOf(type));
    return { $: "bytes", type, v: base64(stored) };
  },
  decode(node, _depth, decoding) {
    const { type, v } = decoding.parts(node, ["type", "v"]);
    if (typeof type !== "string" || typeof v !== "string")
      return decoding.corruptNode(node, "has no type or no base64");
    const decoded = bytesOfBase64(v);
    const width = widthOf(type);
    if (base64(decoded) !== v || decoded.length % width !== 0) return decoding.corruptNode(node, "is cut short");
    // Small Buffers share a pool, at any offset; the caller's value needs memory of its own.
    const own = new Uint8Array(inStoredOrder(decoded, width));
    if (type === "Buffer") return NodeBuffer === undefined ? own : NodeBuffer.from(own.buffer);
    if (type === "ArrayBuffer") return own.buffer;
    if (type === "DataView") return new DataView(own.buffer);
    const constructor = typedArrays.get(type);
    if (constructor !== undefined) return new constructor(own.buffer);
    if (!names.includes(type)) return decoding.corruptNode(node, "has an unknown type");
    return decoding.unsupported(
      `A stored value is a ${type}, which this version of Node lacks. Read it with a newer one.`,
    );
  },
};

/** Returns the exact type of an object that holds bytes; undefined for other objects and for subclasses. */
function typeOf(value: object): string | undefined {
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === NodeBuffer?.prototype && types.isUint8Array(value)) return "Buffer";
  const type = types.isArrayBuffer(value) ? "ArrayBuffer" : types.isDataView(value) ? "DataView" : brand?.call(value);
  return type !== undefined && isNativePrototype(prototype, type) ? type : undefined;
}

function widthOf(type: string): number {
  return typedArrays.get(type)?.BYTES_PER_ELEMENT ?? 1;
}

/**
 * Tells whether a typed array has no properties of its own. Compares it with a fresh view, since listing its keys makes
 * a string of every index.
 */
function hasOnlyBytes(value: Bytes, type: string, buffer: ArrayBufferLike, offset: number): boolean {
  const constructor = type === "Buffer" ? Uint8Array : typedArrays.get(type);
  if (constructor === undefined) return Reflect.ownKeys(value).length === 0;
  const fresh = new constructor(buffer, offset, value.byteLength / widthOf(type));
  return isDeepStrictEqual(value, Object.setPrototypeOf(fresh, Object.getPrototypeOf(value)));
}

function inStoredOrder(raw: Uint8Array, width: number): Uint8Array {
  if (!bigEndian || width === 1) return raw;
  const swapped = new Uint8Array(raw);
  for (let start = 0; start < swapped.length; start += width) swapped.subarray(start, start + width).reverse();
  return swapped;
}
