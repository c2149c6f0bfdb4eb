import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memory } from "../../src/backends/memory/index.ts";
import { type AnyOpenOptions, open } from "../../src/index.ts";
import { directory } from "../../src/large-values/index.ts";
import { forwarding } from "../../src/testing/index.ts";
import { makeFolder, removeFolder } from "../support/temporary-folder.ts";

const encryption = { current: "one", keys: { one: randomBytes(32) } };
const MARKER = "pomegranate";

/** Writes a marker wherever a user can put a value. */
async function writeEverywhere(url: Parameters<typeof open>[0], options: AnyOpenOptions): Promise<void> {
  const store = await open<Record<string, unknown>>(url, { ...options, encryption, packRows: 4 });
  const thread = store.thread("t");
  for (let n = 0; n < 12; n += 1) {
    const text = `${MARKER} ${n}`.repeat(n % 4 === 3 ? 2_000 : 1);
    await thread.put({
      state: { [MARKER]: text, n },
      node: MARKER,
      label: MARKER,
      metadata: { [MARKER]: n },
      next: [MARKER],
    });
  }
  const head = await thread.latest();
  await thread.putWrites(head?.id as string, { task: "task", writes: [{ channel: MARKER, value: MARKER }] });
  await thread.fork({ into: "fork", edits: { more: MARKER } });
  await thread.label(head?.id as string, `${MARKER} again`);
  await thread.prune({ keepLast: 6 });
  await store.rotate({ data: true });
  expect(JSON.stringify(await thread.latest())).toContain(MARKER);
  await store.close();
}

/** Returns the files below a folder in which the marker stands, as text or in base64. */
function leaks(folder: string): string[] {
  const forms = [MARKER, ...[0, 1, 2].map((cut) => Buffer.from(MARKER.slice(cut)).toString("base64").slice(0, 10))];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .filter((path) => forms.some((form) => readFileSync(path).includes(form)));
}

describe("the bytes of an encrypted store", () => {
  test.each(["sqlite", "file"])(
    "no byte of a marker is in the files of a %s: store, nor in its objects",
    async (scheme) => {
      const folder = makeFolder();
      try {
        const largeValues = { from: 1_000, driver: directory(join(folder, "objects")) };
        const kept = await open(`${scheme}:${join(folder, "kept")}`, { encryption });
        await kept.thread("t").put({ state: { [MARKER]: MARKER } });
        await writeEverywhere(`${scheme}:${join(folder, "store")}`, { largeValues });
        // The first store is still open: its log is there, too.
        expect(leaks(folder)).toEqual([]);
        await kept.close();
        const plain = await open(`${scheme}:${join(folder, "plain")}`);
        await plain.thread("t").put({ state: { [MARKER]: MARKER } });
        await plain.close();
        expect(leaks(folder)).not.toEqual([]);
      } finally {
        removeFolder(folder);
      }
    },
  );

  test("no value that reaches a backend, of any table or of the log, contains a marker", async () => {
    const backend = memory();
    const values: Buffer[] = [];
    const watched = forwarding(backend, {
      commit: async (batches) => {
        for (const { checks = [], inserts = [], puts = [], log } of batches) {
          for (const { value } of [...checks, ...inserts, ...puts])
            if (value !== undefined) values.push(Buffer.from(value));
          for (const { text } of log?.lines ?? []) values.push(Buffer.from(text), Buffer.from(text, "base64"));
        }
        return backend.commit(batches);
      },
    });
    await writeEverywhere(watched, {});
    expect(values.length).toBeGreaterThan(50);
    expect(values.filter((value) => value.includes(MARKER))).toEqual([]);
  });
});
