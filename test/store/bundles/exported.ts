import type { Store } from "../../../src/index.ts";
import { collect } from "../../support/collect.ts";

/** The lines of a bundle of all threads, or of those that are named. */
export async function linesOf<State>(store: Store<State>, threads?: string[]): Promise<string[]> {
  return collect(store.export(threads ? { threads } : {}));
}
