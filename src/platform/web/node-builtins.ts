/**
 * The parts of Node's modules that a store needs, for browsers and workers. Replaces `../node-builtins.ts` in the web
 * build. Backends on files and sockets are not part of that build.
 */
import { types } from "./brands.ts";
import { utf8 } from "./bytes.ts";
import { sha1 } from "./sha1.ts";
import { sha256 } from "./sha256.ts";

type Node = typeof import("../node-builtins.ts");

/** Runs a function after other events, at once: a timer of 0 ms waits up to 4 ms in browsers. */
function afterEvents(run: () => void): void {
  if (typeof MessageChannel === "undefined") {
    setTimeout(run, 0);
    return;
  }
  const { port1, port2 } = new MessageChannel();
  Object.assign(port1, {
    onmessage: () => {
      port1.close();
      run();
    },
  });
  port2.postMessage(undefined);
}

export const timers: Node["timers"] = {
  setTimeout: globalThis.setTimeout.bind(globalThis),
  setImmediate: afterEvents,
} as unknown as Node["timers"];

/** Channels without subscribers: browsers have no diagnostics channels. */
export const diagnosticsChannel: { channel(name: string): { readonly hasSubscribers: boolean; publish(): void } } = {
  channel: () => ({ hasSubscribers: false, publish: () => {} }),
};

/** Shows the length of an array and its keys that are no elements: enough to tell whether it has any. */
function inspect(value: readonly unknown[]): string {
  const isElement = (key: PropertyKey): boolean =>
    typeof key === "string" && String(Number(key) >>> 0) === key && Number(key) < value.length;
  const others = Reflect.ownKeys(value).filter((key) => key !== "length" && !isElement(key));
  return `${value.length}[${others.map(String).join()}]`;
}

/** Compares a view of bytes with a fresh view of the same bytes: they differ if the first has properties of its own. */
function isDeepStrictEqual(value: object, fresh: object): boolean {
  return Reflect.ownKeys(value).length === Reflect.ownKeys(fresh).length;
}

export const util: Node["util"] = {
  types,
  inspect,
  isDeepStrictEqual,
  toUSVString: (text: string) => text.toWellFormed(),
} as unknown as Node["util"];

const random = {
  hash: (algorithm: "sha1" | "sha256", text: string) => (algorithm === "sha1" ? sha1 : sha256)(utf8(text)),
  randomInt(from: number, to: number): number {
    const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
    // 53 random bits, of which the range needs at most 31: no value is noticeably likelier than another.
    return from + Math.floor((((high >>> 11) * 2 ** 32 + low) / 2 ** 53) * (to - from));
  },
  /** Returns something that prints as base64url, as a Buffer does. */
  randomBytes(count: number): { toString(): string } {
    const bytes = crypto.getRandomValues(new Uint8Array(count));
    const text = btoa(String.fromCharCode(...bytes));
    return { toString: () => text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "") };
  },
};

export function cryptography(): ReturnType<Node["cryptography"]> {
  return random as unknown as ReturnType<Node["cryptography"]>;
}

/** Returns a name for this process, for people to see. */
export function processName(): string {
  return "web";
}

const table: Int32Array = Int32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  return sum;
});

function crc32(text: string): number {
  let sum = -1;
  for (const byte of utf8(text)) sum = (table[(sum ^ byte) & 255] as number) ^ (sum >>> 8);
  return (sum ^ -1) >>> 0;
}

const checksums = { crc32 } as ReturnType<Node["zlib"]>;

/** Returns the checksum alone: browsers compress asynchronously only. */
export function zlib(): ReturnType<Node["zlib"]> {
  return checksums;
}
