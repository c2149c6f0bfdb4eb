import { expect, test } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { open } from "../../../src/index.ts";
import { forwarding } from "../../../src/testing/index.ts";

test("A watch that begins among many active threads looks at some of them at a time, and tells what comes later", async () => {
  const medium = memory();
  const sizes: number[] = [];
  const writer = await open(forwarding(medium, { close: async () => {} }));
  const puts = Array.from({ length: 1_000 }, (_, n) => writer.thread(`t${n}`).put({ state: { n } }));
  await Promise.all(puts);
  for (let n = 0; n < 200; n += 1) await writer.thread("t7").put({ state: { n } });
  const reader = await open(
    forwarding(medium, {
      read(reads) {
        sizes.push(reads.length);
        return medium.read(reads);
      },
    }),
  );
  const watch = reader.watch();
  await watch.cursor();
  expect(sizes.length).toBeGreaterThan(3);
  expect(Math.max(...sizes)).toBeLessThan(1_000);
  const later = await writer.thread("t7").put({ state: { n: -1 } });
  const again = await writer.thread("t999").put({ state: { n: -1 } });
  const told = [(await watch.next()).value, (await watch.next()).value];
  expect(told.map((change) => [change?.kind, change?.id]).toSorted()).toEqual(
    [
      ["put", later.id],
      ["put", again.id],
    ].toSorted(),
  );
  await watch.return();
  await reader.close();
  await writer.close();
});
