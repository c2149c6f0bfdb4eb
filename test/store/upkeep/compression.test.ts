import { describe, expect, it } from "vitest";
import { memory } from "../../../src/backends/memory/index.ts";
import { canCompress } from "../../../src/codec/envelope.ts";
import { open } from "../../../src/index.ts";

/** A backend whose records outlive the stores opened on it. */
function lasting(): ReturnType<typeof memory> {
  const backend = memory();
  backend.close = async () => {};
  return backend;
}

describe.each(["deflate", ...(canCompress("zstd") ? (["zstd"] as const) : [])] as const)(
  "packs compressed with %s",
  (compression) => {
    it("compressed records take less room, and read without being told how they were compressed", async () => {
      const sizes: number[] = [];
      for (const mode of ["none", compression] as const) {
        const backend = lasting();
        const store = await open<{ log: string[] }>(backend, { compression: mode });
        const thread = store.thread("t");
        const first = await thread.put({ state: { log: [] } });
        for (let step = 1; step <= 200; step += 1)
          await thread.put({ update: { append: { log: [`the same words at step ${step}`] } } });
        sizes.push((await store.measure()).bytes.packs);
        await store.close();
        const reader = await open<{ log: string[] }>(backend);
        expect((await reader.thread("t").latest())?.state.log.length).toBe(200);
        expect((await reader.thread("t").get(first.id))?.state.log).toEqual([]);
        expect((await reader.thread("t").get({ step: 100 }))?.state.log.length).toBe(100);
        expect(await reader.verify()).toEqual({ ok: true, faults: [] });
      }
      expect(sizes[1]).toBeLessThan((sizes[0] as number) / 2);
    });
  },
);
