import type { Answer, Backend } from "../../src/backend.ts";
import { sharedBackend } from "./shared-backend.ts";

/** The calls since the last count: commits, reads, the records and bytes that answered the reads, and measurements of all records. */
export interface Taken {
  readonly commits: number;
  readonly reads: number;
  readonly records: number;
  readonly bytes: number;
  readonly sizes: number;
}

/** A backend that counts what is asked of it, and outlives the stores that are opened on it. */
export function counted(inner: Backend): { readonly backend: Backend; taken(): Taken } {
  let [commits, reads, records, bytes, sizes] = [0, 0, 0, 0, 0];
  const count = (answer: Answer): void => {
    if (typeof answer === "number" || (typeof answer === "object" && "lines" in answer)) return;
    const values = Array.isArray(answer)
      ? answer.map((found) => ("text" in found ? found.text : found.value))
      : answer === undefined
        ? []
        : [answer];
    records += values.length;
    for (const { length } of values) bytes += length;
  };
  return {
    backend: sharedBackend(inner, {
      async read(list) {
        const answers = await inner.read(list);
        reads += 1;
        answers.forEach(count);
        return answers;
      },
      commit(batches) {
        commits += 1;
        return inner.commit(batches);
      },
      size() {
        sizes += 1;
        return inner.size();
      },
    }),
    taken() {
      const since = { commits, reads, records, bytes, sizes };
      [commits, reads, records, bytes, sizes] = [0, 0, 0, 0, 0];
      return since;
    },
  };
}
