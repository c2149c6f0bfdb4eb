import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { collect } from "../../support/collect.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";

const inFolder = folderForEach();

function onDisk(text: string): boolean {
  return readdirSync(inFolder()).some((name) => readFileSync(inFolder(name)).includes(text));
}

describe.each([3, 64])("after a compaction, with packs of %d", (packRows) => {
  test("labels that no thread shows any more are in no file after a compaction", async () => {
    const store = await open<{ n: number }>(`file:${inFolder()}`, { packRows });
    const thread = store.thread("t");
    for (let n = 0; n < 8; n += 1) await thread.put({ id: `c${n}`, state: { n }, label: `first ${n}` });
    await thread.put({ id: "c3", state: { n: -3 }, label: "replacing 3" });
    await thread.fork({ at: "c5", into: "fork" });
    for (const id of ["c1", "c3", "c7"]) await thread.label(id, `new ${id}`);
    await thread.label("c2", "");
    await store.compact();
    // The fork shows those up to c5 as they were.
    for (const shown of ["first 1", "first 2", "replacing 3", "new c3"]) expect(onDisk(shown), shown).toBe(true);
    for (const gone of ["first 3", "first 7"]) expect(onDisk(gone), gone).toBe(false);
    await store.thread("fork").delete();
    await store.compact();
    for (const gone of ["first 1", "first 2", "replacing 3"]) expect(onDisk(gone), gone).toBe(false);
    const labels = (await collect(thread.history())).map(({ label }) => label);
    expect(labels).toEqual(["new c7", "first 6", "first 5", "first 4", "new c3", "", "new c1", "first 0"]);
    expect((await thread.get("c3"))?.state).toEqual({ n: -3 });
    expect(await store.verify()).toEqual({ ok: true, faults: [] });
    await store.close();
  });
});

describe("after a compaction", () => {
  const answer = (value: string) => ({ task: "k", writes: [{ channel: "c", index: -4, value }] });

  test.each(["deleted", "overwritten"])(
    "a write that forks have overwritten and whose own thread is %s is nowhere",
    async (what) => {
      const store = await open<{ n: number }>(`file:${inFolder()}`);
      const thread = store.thread("t");
      await thread.put({ id: "c", state: { n: 0 } });
      await thread.putWrites("c", {
        task: "k",
        writes: [
          { channel: "c", index: -4, value: "first answer" },
          { channel: "kept", index: 0, value: "data" },
        ],
      });
      const copy = await thread.copy("copy");
      const fork = await copy.fork({ into: "fork" });
      await copy.putWrites("c", answer("answer of the copy"));
      await fork.putWrites("c", answer("answer of the fork"));
      await store.compact();
      // The thread itself still shows it.
      expect(onDisk("first answer")).toBe(true);
      if (what === "deleted") await thread.delete();
      else await thread.putWrites("c", answer("last answer"));
      await store.compact();
      expect(onDisk("first answer")).toBe(false);
      for (const [shown, text] of [
        [copy, "answer of the copy"],
        [fork, "answer of the fork"],
      ] as const) {
        expect((await shown.writes("c")).map(({ value }) => value)).toEqual([text, "data"]);
      }
      await copy.delete();
      await store.compact();
      expect(onDisk("answer of the copy")).toBe(false);
      expect((await fork.writes("c")).map(({ value }) => value)).toEqual(["answer of the fork", "data"]);
      expect(await store.verify()).toEqual({ ok: true, faults: [] });
      await store.close();
    },
  );
});
