export type { ExclusiveOptions } from "./exclusive.ts";
export { type SaverOptions, ThreadmarkSaver } from "./saver.ts";
