import { expect, test } from "vitest";
import { isSmall, smallStore } from "../../../src/model/small-store.ts";

const { threads, bytes, checkpoints } = smallStore;

test.each([
  [{ threads, bytes }, true],
  [{ threads: threads + 1, bytes: 0 }, false],
  [{ threads: 0, bytes: bytes + 1 }, false],
  [{ threads, bytes: undefined }, true],
  [{ threads: threads + 1, bytes: undefined }, false],
  [{ threads, bytes: undefined, checkpoints }, true],
  [{ threads, bytes: undefined, checkpoints: checkpoints + 1 }, false],
  // A medium that tells its bytes bounds the checkpoints by them.
  [{ threads, bytes, checkpoints: checkpoints + 1 }, true],
])("a store of %o is small: %s", (extent, small) => {
  expect(isSmall(extent)).toBe(small);
});
