/** Returns a value of every kind that a state can hold, by name. Each call makes new ones. */
export function richValues(): Record<string, unknown> {
  const nullPrototype = Object.assign(Object.create(null) as object, { a: 1, b: Object.create(null) });
  const failure = new TypeError("wrong", { cause: new RangeError("inner", { cause: "text" }) });
  return {
    undefined: undefined,
    null: null,
    true: true,
    false: false,
    zero: 0,
    "minus zero": -0,
    NaN: Number.NaN,
    Infinity: Number.POSITIVE_INFINITY,
    "minus Infinity": Number.NEGATIVE_INFINITY,
    fraction: 0.1 + 0.2,
    "greatest number": Number.MAX_VALUE,
    "smallest number": Number.MIN_VALUE,
    "unsafe integer": 2 ** 60,
    bigint: 18446744073709551615n,
    "negative bigint": -(2n ** 200n),
    "bigint zero": 0n,
    "empty string": "",
    text: 'quotes " and \\ and \u2028 and \n',
    "NUL in text": "a\0b",
    emoji: "👩‍👩‍👧‍👦",
    "lone high surrogate": "a\ud83d",
    "lone low surrogate": "\ude00b",
    "empty list": [],
    list: [1, [2, [3, []]], {}],
    "list of undefined": [undefined, null, undefined],
    "empty object": {},
    object: { a: { b: { c: [] } } },
    "undefined field": { a: undefined, b: 1 },
    "null prototype": nullPrototype,
    date: new Date(1_700_000_000_123),
    "early date": new Date(-1),
    "invalid date": new Date(Number.NaN),
    regexp: /a(?<name>[/"\\])\u{1f600}/giu,
    "empty map": new Map(),
    map: new Map<unknown, unknown>([
      ["a", 1],
      [{ key: 1 }, new Map([[1n, undefined]])],
      [-0, null],
      [undefined, "u"],
    ]),
    "empty set": new Set(),
    set: new Set<unknown>([1, "1", 1n, null, undefined, Number.NaN, { a: new Set([0]) }]),
    error: new Error("plain"),
    "error with cause and fields": Object.assign(failure, { code: "E", details: [1n] }),
    "error without message": new Error(),
    "aggregate of types": [new SyntaxError("s"), new EvalError("e"), new URIError("u"), new ReferenceError("r")],
    url: new URL("https://user:pw@example.org:8080/p/a?q=1#h"),
    arraybuffer: new Uint8Array([1, 2, 3, 255]).buffer,
    "empty bytes": new Uint8Array(0),
    uint8: new Uint8Array([0, 1, 254, 255]),
    uint8clamped: new Uint8ClampedArray([0, 255]),
    int8: new Int8Array([-128, 127]),
    uint16: new Uint16Array([0, 65535]),
    int16: new Int16Array([-32768, 32767]),
    uint32: new Uint32Array([0, 4294967295]),
    int32: new Int32Array([-2147483648, 2147483647]),
    float32: new Float32Array([0.5, -0, Number.NaN, Number.POSITIVE_INFINITY]),
    float64: new Float64Array([0.1, -0, Number.NaN, Number.MIN_VALUE]),
    bigint64: new BigInt64Array([-(2n ** 63n), 2n ** 63n - 1n]),
    biguint64: new BigUint64Array([0n, 2n ** 64n - 1n]),
    "view of a part": new Uint8Array([9, 8, 7, 6, 5, 4, 3, 2, 1]).subarray(2, 5),
    dataview: new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2),
    buffer: Buffer.from("buffer \u{1f600}"),
  };
}

/** Returns a value of every kind that cannot be stored, by name. */
export function unstorable(): Record<string, unknown> {
  const cycle: unknown[] = [];
  cycle.push({ cycle });
  const mapCycle = new Map<string, unknown>();
  mapCycle.set("self", mapCycle);
  class Unknown {
    field = 1;
  }
  const sparse: unknown[] = [];
  sparse[2] = 1;
  return {
    function: () => 1,
    class: Unknown,
    symbol: Symbol("s"),
    "an unknown class": new Unknown(),
    "a subclass of Map": new (class Sub extends Map {})(),
    "a subclass of Array": new (class Sub extends Array {})(),
    cycle,
    "a cycle through a map": mapCycle,
    promise: Promise.resolve(1),
    weakmap: new WeakMap(),
    weakset: new WeakSet(),
    proxy: new Proxy(() => 1, {}),
    generator: (function* numbers() {
      yield 1;
    })(),
    accessor: {
      get computed() {
        return 1;
      },
    },
    "a symbol key": { [Symbol("key")]: 1 },
    "a sparse list": sparse,
    "a list with a property": Object.assign([1, 2], { extra: true }),
    "a function inside a map": new Map([["f", () => 1]]),
    "a symbol inside a set": new Set([Symbol("s")]),
  };
}
