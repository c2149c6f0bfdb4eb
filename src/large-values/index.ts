/** Places for large values outside the store: see docs/guides/large-values.md. */
export type { LargeValueOptions, StoredObject, ValueDriver } from "../model/interface/store-options.ts";
export { directory } from "./directory.ts";
