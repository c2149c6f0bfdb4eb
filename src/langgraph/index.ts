export type { ExclusiveOptions } from "./runs/exclusive.ts";
export { type SaverOptions, ThreadmarkSaver } from "./saver.ts";
