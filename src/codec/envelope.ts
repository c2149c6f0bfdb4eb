import type { Value } from "../backend.ts";
import { ThreadmarkError } from "../errors.ts";
import { latin1, utf8 } from "../platform/bytes.ts";
import { zlib } from "../platform/node-builtins.ts";
import { jsonText } from "./json-text.ts";

/**
 * Every stored value begins with ten characters: the format's version, the codec, and eight hexadecimal digits of the
 * CRC-32 of the JSON text. An encrypted value has another header: the first two characters decide how the rest is read.
 *
 * | codec | payload |
 * | --- | --- |
 * | `j` | JSON as it is, in a text value |
 * | `d` | raw deflate of the JSON, in a bytes value |
 * | `z` | zstd of the JSON, in a bytes value |
 * | `e` | an encrypted envelope, in a bytes value: see `engine/encryption/data-key.ts` |
 */
const VERSION = "1";
/** A record that a program of format 1 would misread: it holds large values, or refers to some. */
const VERSION_2 = "2";
const HEADER = 10;

/** Stands for a value that does not decrypt; reads as `CORRUPT`. */
export const UNREADABLE = "2x00000000";
/** Stands for a value that is not encrypted, in a store that is; reads as `CORRUPT`. */
export const NOT_ENCRYPTED = "2p00000000";

/** The version of the format that a reader must know. */
export type Version = typeof VERSION | typeof VERSION_2;

export type Compression = "none" | "deflate" | "zstd";

/** Tells whether this runtime can write a compression: Node before 22.15 has no zstd, a browser has none at all. */
export function canCompress(compression: Compression): boolean {
  if (compression === "none") return true;
  const { zstdCompressSync, deflateRawSync } = zlib();
  return (compression === "zstd" ? zstdCompressSync : deflateRawSync) !== undefined;
}

/** Two hexadecimal digits for each byte. */
const hexadecimal: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Returns the CRC-32 of a text in eight hexadecimal digits. */
export function checksum(json: string): string {
  const sum = zlib().crc32(json);
  const high = `${hexadecimal[sum >>> 24]}${hexadecimal[(sum >>> 16) & 255]}`;
  return `${high}${hexadecimal[(sum >>> 8) & 255]}${hexadecimal[sum & 255]}`;
}

/** Wraps a value for storage, as JSON. Throws `TOO_LARGE` where that takes more than a record may hold. */
export function wrapJson(value: unknown, compression: Compression = "none", version: Version = VERSION): Value {
  return wrap(jsonText(value), compression, version);
}

/** Wraps JSON text for storage. */
export function wrap(json: string, compression: Compression, version: Version): Value {
  if (compression === "none") return `${version}j${checksum(json)}${json}`;
  const { zstdCompressSync, deflateRawSync } = zlib();
  const compress = compression === "zstd" ? zstdCompressSync : deflateRawSync;
  if (compress === undefined) throw unsupported(compression);
  const packed = compress(json);
  const codec = compression === "zstd" ? "z" : "d";
  const bytes = new Uint8Array(HEADER + packed.length);
  bytes.set(utf8(`${version}${codec}${checksum(json)}`));
  bytes.set(packed, HEADER);
  return bytes;
}

/** Returns the error of a runtime that lacks a compression. */
export function unsupported(compression: Exclude<Compression, "none">): ThreadmarkError {
  return new ThreadmarkError(
    "UNSUPPORTED",
    compression === "zstd"
      ? 'This runtime has no zstd. Use Node 22.15 or later, or write with compression: "deflate".'
      : 'This runtime has no deflate. Use Node, Bun or Deno, or write with compression: "none".',
  );
}

/** Tells whether a stored value may refer to large values: its version says so. */
export function refers(value: Value): boolean {
  return typeof value === "string" ? value.startsWith(VERSION_2) : value[0] === VERSION_2.charCodeAt(0);
}

function corruptValue(fault: string, cause?: unknown): ThreadmarkError {
  return new ThreadmarkError("CORRUPT", `A stored value is damaged: ${fault}. Restore it from a backup.`, { cause });
}

/** Returns the error of an encrypted store that was opened without keys. */
export function encryptedStore(what = "The store"): ThreadmarkError {
  return new ThreadmarkError(
    "KEY",
    `${what} is encrypted. Open the store with its keys: encryption: { current, keys }; on the command line, --key-file.`,
  );
}

function inflate(codec: string, payload: Uint8Array): string {
  if (codec !== "d" && codec !== "z") throw corruptValue(`its codec ${JSON.stringify(codec)} is unknown`);
  const { inflateRawSync, zstdDecompressSync } = zlib();
  const decompress = codec === "d" ? inflateRawSync : zstdDecompressSync;
  if (decompress === undefined) throw unsupported(codec === "d" ? "deflate" : "zstd");
  return decompress(payload).toString("utf8");
}

/** Checks the checksum and returns the JSON text. Throws `CORRUPT` for a fault, `VERSION` for a newer format. */
export function unwrap(value: Value): string {
  const text = typeof value === "string";
  const header = text ? value.slice(0, HEADER) : latin1(value.subarray(0, HEADER));
  if (header.length < HEADER) throw corruptValue("it is shorter than its header");
  if (header[0] !== VERSION && header[0] !== VERSION_2) {
    if (header[0] !== undefined && header[0] > VERSION_2 && header[0] <= "9") {
      throw new ThreadmarkError(
        "VERSION",
        `A stored value has format ${header[0]}; this version of threadmark reads up to ${VERSION_2}. Upgrade threadmark.`,
      );
    }
    throw corruptValue("its header is not ours");
  }
  const codec = header[1] as string;
  if (codec === "e") throw encryptedStore();
  if (value === UNREADABLE) throw corruptValue("it does not decrypt, since it was changed, cut or moved");
  if (value === NOT_ENCRYPTED) throw corruptValue("it is not encrypted, and the store is");
  let json: string;
  if (text) {
    if (codec !== "j") throw corruptValue(`its codec ${JSON.stringify(codec)} is not one for text`);
    json = value.slice(HEADER);
  } else {
    try {
      json = inflate(codec, value.subarray(HEADER));
    } catch (error) {
      if (error instanceof ThreadmarkError) throw error;
      throw corruptValue("it cannot be decompressed", error);
    }
  }
  if (checksum(json) !== header.slice(2)) throw corruptValue("its checksum does not match");
  return json;
}

/** Unwraps a value (see {@link unwrap}) and parses it. */
export function unwrapJson(value: Value): unknown {
  return parsed(unwrap(value));
}

/** Parses JSON that was unwrapped. Throws `CORRUPT` where it is none. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw corruptValue("it is not JSON", error);
  }
}
