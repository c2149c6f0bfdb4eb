import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { open } from "../../src/index.ts";

const directory = mkdtempSync(join(tmpdir(), "threadmark-labels-"));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function onDisk(text: string): boolean {
  return readdirSync(directory).some((name) => readFileSync(join(directory, name)).includes(text));
}

describe.each([3, 64])("after a compaction, with packs of %d", (packRows) => {
  test("labels that no thread shows any more are nowhere", async () => {
    const store = await open<{ n: number }>(`file:${directory}`, { packRows });
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
    const labels: string[] = [];
    for await (const { label } of thread.history()) labels.push(label);
    expect(labels).toEqual(["new c7", "first 6", "first 5", "first 4", "new c3", "", "new c1", "first 0"]);
    expect((await thread.get("c3"))?.state).toEqual({ n: -3 });
    expect(await store.verify()).toEqual({ ok: true, faults: [] });
    await store.close();
  });
});
