import { expect, test } from "vitest";
import type { Backend, Listed, Value } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { unwrapJson } from "../../../src/codec/envelope.ts";
import { decodeMeta, encodeMeta } from "../../../src/engine/records/meta.ts";
import { open } from "../../../src/index.ts";
import { counted } from "../../support/counted.ts";

/** Makes a tape's next seq the one after `floor`, as if that many checkpoints had been put and deleted. */
async function passOver(backend: Backend, floor: number): Promise<void> {
  const [listed] = (await backend.read([{ list: { limit: 1 } }])) as readonly [readonly Listed[]];
  const { tape, lineage } = unwrapJson((listed[0] as Listed).value) as { tape: number; lineage: number };
  const key = { table: "meta" as const, lineage, group: lineage, item: tape, part: 0 };
  const [value] = (await backend.read([{ get: key }])) as readonly [Value];
  const meta = decodeMeta(value);
  await backend.commit([{ puts: [{ key, value: encodeMeta({ ...meta, floor, version: meta.version + 1 }) }] }]);
}

test("a put beyond the last seq is refused, and what was acknowledged before it is there after reopening", async () => {
  const { backend } = counted(memory());
  const store = await open<{ n: number }>(backend);
  await store.thread("t").put({ state: { n: 0 } });
  await passOver(backend, 2 ** 32 - 4);
  const seqs: number[] = [];
  for (const n of [1, 2]) seqs.push((await store.thread("t").put({ state: { n } })).seq);
  expect(seqs).toEqual([2 ** 32 - 3, 2 ** 32 - 2]);
  const refused = { code: "UNSUPPORTED", thread: "t", message: expect.stringMatching(/another thread/) };
  await expect(store.thread("t").put({ state: { n: 3 } })).rejects.toMatchObject(refused);
  await expect(store.thread("t").fork({ edits: { n: 3 } })).rejects.toMatchObject(refused);
  const reopened = await open<{ n: number }>(backend);
  expect((await reopened.thread("t").latest())?.state).toEqual({ n: 2 });
  expect(await reopened.verify()).toEqual({ ok: true, faults: [] });
  const fork = await reopened.thread("t").fork();
  expect((await fork.latest())?.state).toEqual({ n: 2 });
});

test("puts go on over the limit of seqs that ids can tell", async () => {
  const { backend } = counted(memory());
  const store = await open<{ n: number }>(backend, { packRows: 3 });
  await store.thread("t").put({ state: { n: 0 } });
  await passOver(backend, 2 ** 31 - 4);
  for (let n = 1; n < 12; n += 1) await store.thread("t").put({ state: { n } });
  const reopened = await open<{ n: number }>(backend, { packRows: 3 });
  const found: number[] = [];
  for await (const { id, state } of reopened.thread("t").history({ states: true })) {
    found.unshift(state.n);
    expect((await reopened.thread("t").get(id))?.state).toEqual(state);
  }
  expect(found).toEqual(Array.from({ length: 12 }, (_, n) => n));
  expect(await reopened.verify()).toEqual({ ok: true, faults: [] });
});
