/**
 * Node's own modules. The web build has `web/node-builtins.ts` instead. They are taken without `import`: that would make Node list their exports, and for that evaluate every lazy part
 * of them (the console's streams for `util`, promises for `fs`). In a new process this takes longer than all else that
 * opening a store does.
 */
export const fs: typeof import("node:fs") = process.getBuiltinModule("node:fs");
export const diagnosticsChannel: Pick<typeof import("node:diagnostics_channel"), "channel"> =
  process.getBuiltinModule("node:diagnostics_channel");
export const path: typeof import("node:path") = process.getBuiltinModule("node:path");
export const timers: typeof import("node:timers") = process.getBuiltinModule("node:timers");
export const util: typeof import("node:util") = process.getBuiltinModule("node:util");

// The functions load a module when it is first needed, since a short process may never come to it.

let loadedCrypto: typeof import("node:crypto") | undefined;

/** Returns `node:crypto`. Kept, because every write and large value that is stored needs it. */
export function cryptography(): typeof import("node:crypto") {
  loadedCrypto ??= process.getBuiltinModule("node:crypto");
  return loadedCrypto;
}

export function os(): typeof import("node:os") {
  return process.getBuiltinModule("node:os");
}

/** Returns a name for this process, for people to see. */
export function processName(): string {
  return `${os().hostname()}:${process.pid}`;
}

type NodeZlib = typeof import("node:zlib");

/** The part of `node:zlib` that is used here. Older versions of Node have no zstd, browsers only the checksum. */
export type Zlib = Pick<NodeZlib, "crc32"> &
  Partial<Pick<NodeZlib, "deflateRawSync" | "inflateRawSync" | "zstdCompressSync" | "zstdDecompressSync">>;

let loadedZlib: Zlib | undefined;

/** Returns `node:zlib`, which loads all of Node's streams. Kept, because every value that is stored or read needs it. */
export function zlib(): Zlib {
  loadedZlib ??= process.getBuiltinModule("node:zlib");
  return loadedZlib;
}

/** Returns `node:sqlite`, or undefined where this Node has none: before 22.13 it is absent or behind a flag. */
export function sqlite(): unknown {
  return process.getBuiltinModule("node:sqlite");
}
