import fc from "fast-check";

const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 4 });
/** Any string, lone surrogates included. */
const text = fc.oneof(
  fc.string(),
  units.map((codes) => String.fromCharCode(...codes)),
);

const awkward = ["$", "$$", "__proto__", "constructor", "toString", "v", "0", "7", "", "a b", "length", "then"];
export const key: fc.Arbitrary<string> = fc.oneof(fc.constantFrom("a", "b", "c", ...awkward), text);

const primitive: fc.Arbitrary<unknown> = fc.oneof(
  text,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.bigInt(),
  fc.constantFrom(null, undefined, 0, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
);

const bytes = fc.uint8Array({ maxLength: 24 });

/** A view of a part of a larger buffer. */
function view<T>(make: (buffer: ArrayBuffer, offset: number, length: number) => T, width: number): fc.Arbitrary<T> {
  return fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 3 }), bytes).map(([before, length, content]) => {
    const buffer = new ArrayBuffer((before + length + 1) * width);
    new Uint8Array(buffer).set(content.subarray(0, buffer.byteLength));
    return make(buffer, before * width, length);
  });
}

const binary: fc.Arbitrary<unknown> = fc.oneof(
  bytes.map((content) => content.slice().buffer),
  bytes.map((content) => Buffer.from(content)),
  view((buffer, offset, length) => new DataView(buffer, offset, length), 1),
  view((buffer, offset, length) => Buffer.from(buffer, offset, length), 1),
  ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array].map((type) =>
    view<unknown>((buffer, offset, length) => new type(buffer, offset, length), type.BYTES_PER_ELEMENT),
  ),
  ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array].map((type) =>
    view<unknown>((buffer, offset, length) => new type(buffer, offset, length), type.BYTES_PER_ELEMENT),
  ),
);

/** A flag too new for the compiler's target, but not for any supported Node. */
const unicodeSets: string = "v";
const patterns = [
  /a+/,
  /(?:)/g,
  /\//gi,
  /[\]/]/m,
  /\n/dgimsuy,
  /(?<x>.)\k<x>/u,
  new RegExp("[\\p{L}--[a-z]]", unicodeSets),
  /\n/,
];
const regexp = fc.tuple(fc.constantFrom(...patterns), fc.nat({ max: 9 })).map(([pattern, lastIndex]) => {
  const made = new RegExp(pattern);
  made.lastIndex = lastIndex;
  return made;
});

const links = fc.oneof(
  fc.webUrl({ withQueryParameters: true, withFragments: true }).map((address) => new URL(address)),
  fc.array(fc.tuple(text, text), { maxLength: 3 }).map((pairs) => new URLSearchParams(pairs)),
);

const dates = fc.date({ noInvalidDate: false });

const errorClasses = [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];

function objectOf(value: fc.Arbitrary<unknown>, prototype: object | null = Object.prototype): fc.Arbitrary<object> {
  return fc.array(fc.tuple(key, value), { maxLength: 4 }).map((pairs) => {
    const made: object = Object.create(prototype);
    for (const [name, field] of pairs) {
      Object.defineProperty(made, name, { value: field, enumerable: true, writable: true, configurable: true });
    }
    return made;
  });
}

function errorOf(value: fc.Arbitrary<unknown>): fc.Arbitrary<Error> {
  const parts = fc.record(
    { message: text, cause: value, fields: objectOf(value), noStack: fc.constant(true), errors: fc.array(value) },
    { requiredKeys: ["fields"] },
  );
  return fc.tuple(fc.constantFrom(...errorClasses), parts).map(([type, { message, fields, errors, ...rest }]) => {
    const options = "cause" in rest ? { cause: rest.cause } : {};
    const made = errors === undefined ? new type(message, options) : new AggregateError(errors, message, options);
    if (rest.noStack) Reflect.deleteProperty(made, "stack");
    for (const name of Object.keys(fields)) {
      Object.defineProperty(made, name, { ...Object.getOwnPropertyDescriptor(fields, name) });
    }
    return made;
  });
}

/** Any value that can be stored without registering a class. */
export const storable: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => {
  const value = tie("value");
  const list = fc.array(value, { maxLength: 5 });
  return {
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      { weight: 4, arbitrary: primitive },
      { weight: 3, arbitrary: objectOf(value) },
      { weight: 3, arbitrary: list },
      { weight: 1, arbitrary: fc.oneof(dates, regexp, links, binary) },
      { weight: 1, arbitrary: fc.array(fc.tuple(value, value), { maxLength: 4 }).map((pairs) => new Map(pairs)) },
      { weight: 1, arbitrary: list.map((members) => new Set(members)) },
      { weight: 1, arbitrary: objectOf(value, null) },
      { weight: 1, arbitrary: errorOf(value) },
    ),
  };
}).value;
