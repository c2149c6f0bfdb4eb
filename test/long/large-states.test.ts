import { expect, it } from "vitest";
import { jsonText, RECORD_BYTES } from "../../src/codec/json-text.ts";
import { open } from "../../src/index.ts";
import { folderForEach } from "../support/folders-of-tests.ts";
import { howMany } from "./campaign.ts";

const path = folderForEach();

interface Work {
  readonly blob: string;
  readonly n: number;
}

it.each(["sqlite", "file"])(
  "A thread on %s whose steps overwrite 9 MB stays writable, and can be pruned.",
  async (kind) => {
    const steps = howMany(70);
    const store = await open<Work>(`${kind}:${path(`large-${kind}`)}`);
    const thread = store.thread("t");
    for (let n = 0; n < steps; n += 1) await thread.put({ state: { blob: `${n}`.padEnd(9_000_000, "x"), n } });
    expect((await thread.get({ step: 3 }))?.state.n).toBe(3);
    expect(await thread.prune({ keepLast: 2 })).toMatchObject({ deleted: steps - 2 });
    expect((await thread.latest())?.state.n).toBe(steps - 1);
    expect(await store.verify()).toEqual({ ok: true, faults: [] });
    await store.close();
  },
);

it("A thread whose list grows by 9 MB a step is refused more than a checkpoint may take, and can be pruned.", async () => {
  const store = await open<{ list: string[] }>(`sqlite:${path("growing.db")}`);
  const thread = store.thread("t");
  await thread.put({ state: { list: [] } });
  const put = (): Promise<unknown> => thread.put({ update: { append: { list: ["x".repeat(9_000_000)] } } });
  let steps = 1;
  await expect(
    (async () => {
      for (;;) {
        await put();
        steps += 1;
      }
    })(),
  ).rejects.toMatchObject({ code: "TOO_LARGE", thread: "t", limit: 250_000_000 });
  expect(steps).toBe(28);
  expect(await thread.prune({ keepLast: 2 })).toMatchObject({ deleted: steps - 2 });
  await thread.put({ update: { set: { list: [] } } });
  expect((await thread.latest())?.state).toEqual({ list: [] });
  await store.close();
});

it("A state of 600 MB is refused before anything is written.", async () => {
  const store = await open<{ list: string[] }>(`sqlite:${path("huge.db")}`);
  const thread = store.thread("t");
  const list = Array.from({ length: 60 }, () => "x".repeat(10_000_000));
  await expect(thread.put({ state: { list } })).rejects.toMatchObject({ code: "TOO_LARGE", thread: "t" });
  expect(await thread.count()).toBe(0);
  await thread.put({ state: { list: [] } });
  await store.close();
});

it("A value whose JSON no string can hold is too large, and the error says how large.", () => {
  const half = "x".repeat(2 ** 28);
  expect(() => jsonText([half, half])).toThrow(
    expect.objectContaining({ code: "TOO_LARGE", bytes: 2 ** 29 + 7, limit: RECORD_BYTES }),
  );
});
