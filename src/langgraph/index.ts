export type { SaverOptions } from "./options.ts";
export type { ExclusiveOptions } from "./runs/exclusive.ts";
export { ThreadmarkSaver } from "./saver.ts";
