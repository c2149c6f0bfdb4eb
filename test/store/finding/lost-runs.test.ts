import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { locations } from "../../support/places.ts";

for (const { name, make } of locations) {
  test(`after compact, no run of a deleted thread is in the index, on ${name}`, async () => {
    const { url, options, cleanup } = await make();
    const reopen = () => open<{ n: number }>(url as string, { ...options, packRows: 8 });
    try {
      await using first = await reopen();
      await first.thread("stays").put({ state: { n: 0 }, run: "r3" });
      const before = (await first.measure()).bytes.entries;
      for (let n = 0; n < 40; n += 1) await first.thread("goes").put({ state: { n }, run: `r${n}` });
      await first.close();
      // A store that has not read the thread does not know its runs.
      await using second = await reopen();
      await second.thread("goes").delete();
      await second.compact();
      expect((await second.measure()).bytes.entries).toBe(before);
    } finally {
      await cleanup();
    }
  });
}
