import type { Backend } from "../../../src/backend.ts";
import { sharedBackend } from "../../support/shared-backend.ts";

/**
 * A view of a backend before each of whose reads, which are numbered, others may do something; and before each of its
 * commits, if `beforeCommit` is given. It closes nothing.
 */
export function meanwhile(
  inner: Backend,
  act: (read: number) => Promise<unknown>,
  beforeCommit: () => Promise<unknown> = async () => {},
): Backend {
  let reads = 0;
  return sharedBackend(inner, {
    async read(asked) {
      await act(reads++);
      return inner.read(asked);
    },
    async commit(batches) {
      await beforeCommit();
      return inner.commit(batches);
    },
  });
}
