import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";
import { inspect, journals, lastBatchAt, openAt } from "./support/damage.ts";
import { onSpecimens } from "./support/on-specimens.ts";

const path = folderForEach();
const newline = Buffer.from("\n");

function inserted(content: Buffer, at: number, bytes: Buffer): Buffer {
  return Buffer.concat([content.subarray(0, at), bytes, content.subarray(at)]);
}

/** Where lines begin. */
function linesOf(content: Buffer): number[] {
  const starts = [0];
  for (let at = content.indexOf("\n"); at >= 0; at = content.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts.slice(0, -1);
}

onSpecimens((specimen) => {
  /** Nothing reads as it is not, nothing is written, and nothing is gone once the change is undone. */
  async function expectKept(journal: string, content: Buffer, when: string): Promise<void> {
    const { disk } = specimen();
    const whole = disk.contentOf(journal);
    disk.overwrite(journal, content);
    const backend = await openAt(disk);
    const { isNow, corrupt } = await inspect(backend, specimen());
    for (const one of journals) expect(isNow.get(one), `${when}: a wrong value from ${one}`).toBe(true);
    expect(corrupt.length, when).toBeGreaterThan(0);
    expect(await backend.verify(), when).toEqual([expect.stringContaining("not where they were written")]);
    const lineage = journals.indexOf(journal as (typeof journals)[number]) + 1;
    const key =
      lineage === 3
        ? ({ table: "directory", id: "new" } as const)
        : ({ table: "mark", lineage, group: lineage, item: 1, part: 0 } as const);
    const write = backend.commit([{ puts: [{ key, value: "1j00000000[]" }] }]);
    await expect(write, when).rejects.toMatchObject({ code: "CORRUPT" });
    await expect(backend.compact(), when).rejects.toMatchObject({ code: "CORRUPT" });
    await backend.close();
    expect(disk.contentOf(journal).equals(content), `${when}: the journal was changed`).toBe(true);
    disk.overwrite(journal, whole);
    const again = await openAt(disk);
    const undone = await inspect(again, specimen());
    expect(undone.corrupt, when).toEqual([]);
    for (const one of journals) expect(undone.isNow.get(one), when).toBe(true);
    await again.close();
  }

  test.each(journals)("%s with a newline added before any line: CORRUPT, and nothing is destroyed", async (journal) => {
    const whole = specimen().disk.contentOf(journal);
    for (const at of linesOf(whole)) await expectKept(journal, inserted(whole, at, newline), `newline at ${at}`);
  });

  test.each(journals)(
    "%s with bytes added or taken away before the last batch: CORRUPT, and nothing is destroyed",
    async (journal) => {
      const whole = specimen().disk.contentOf(journal);
      for (let at = 0; at < lastBatchAt(whole); at += 37) {
        await expectKept(journal, inserted(whole, at, newline), `newline at ${at}`);
        await expectKept(journal, inserted(whole, at, Buffer.from("é")), `two bytes at ${at}`);
        const shorter = Buffer.concat([whole.subarray(0, at), whole.subarray(at + 1)]);
        await expectKept(journal, shorter, `without the byte at ${at}`);
      }
    },
  );

  test.each(journals)(
    "%s with other line ends, or a mark of its encoding: CORRUPT, nothing destroyed",
    async (journal) => {
      const whole = specimen().disk.contentOf(journal);
      await expectKept(journal, Buffer.from(whole.toString("latin1").replaceAll("\n", "\r\n"), "latin1"), "CRLF");
      await expectKept(journal, inserted(whole, 0, Buffer.from("\ufeff")), "a byte order mark");
    },
  );
});

describe.each([1, 200])("a thread of %i checkpoints", (count) => {
  const journal = (): string => readdirSync(path("store")).find((name) => /^[0-9a-f]{8}\.jsonl$/.test(name)) as string;
  const convert = (name: string, from: string, to: string): void => {
    const content = readFileSync(path("store", name), "latin1").replaceAll(from, to);
    writeFileSync(path("store", name), content, "latin1");
  };

  test("whose files were converted to other line ends is not taken for an empty one, and reads when they are back", async () => {
    let store = await open<{ n: number }>(`file:${path("store")}`);
    for (let n = 1; n <= count; n++) await store.thread("t").put({ state: { n } });
    await store.close();
    for (const names of [readdirSync(path("store")), [journal()]]) {
      for (const name of names) convert(name, "\n", "\r\n");
      const sizes = names.map((name) => readFileSync(path("store", name)).length);
      store = await open(`file:${path("store")}`);
      await expect(store.thread("t").latest()).rejects.toMatchObject({ code: "CORRUPT" });
      await expect(store.thread("t").put({ state: { n: -1 } })).rejects.toMatchObject({ code: "CORRUPT" });
      expect((await store.verify()).ok).toBe(false);
      await store.close();
      expect(names.map((name) => readFileSync(path("store", name)).length)).toEqual(sizes);
      for (const name of names) convert(name, "\r\n", "\n");
      store = await open(`file:${path("store")}`);
      expect((await store.thread("t").latest())?.state).toEqual({ n: count });
      expect(await store.verify()).toEqual({ ok: true, faults: [] });
      await store.close();
    }
  });
});
