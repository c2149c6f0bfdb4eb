/**
 * Modules of Node itself, as they are. An `import` would have Node list their exports, and for that evaluate every lazy
 * part of them (the console's streams for `util`, promises for `fs`): in a new process that takes longer than all else
 * that opening a store does.
 */
export const fs: typeof import("node:fs") = process.getBuiltinModule("node:fs");
export const path: typeof import("node:path") = process.getBuiltinModule("node:path");
export const timers: typeof import("node:timers") = process.getBuiltinModule("node:timers");
export const util: typeof import("node:util") = process.getBuiltinModule("node:util");
