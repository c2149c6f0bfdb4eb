import type { Store } from "../../../src/index.ts";

/** The lines of a bundle of all threads, or of those that are named. */
export async function linesOf<State>(store: Store<State>, threads?: string[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of store.export(threads ? { threads } : {})) lines.push(line);
  return lines;
}
