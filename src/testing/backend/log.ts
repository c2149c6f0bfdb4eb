import assert from "node:assert/strict";
import type { Backend, LogPage } from "../../backend.ts";
import { logBounds } from "../../backend.ts";
import type { BackendCase } from "./case.ts";
import { at, backendCase, fill, text, using } from "./case.ts";

async function append(backend: Backend, lineage: number, ...lines: readonly string[]): Promise<void> {
  const log = { lineage, lines: lines.map((line) => ({ at: 5, text: line })) };
  assert.deepEqual(await backend.commit([{ log }]), [true]);
}

/** Waits until a line can be read: on a server it stays behind until every transaction that began before it has ended. */
async function settled(backend: Backend, line: string): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const [newest] = await backend.read([{ log: { after: "", limit: 50, newest: true } }]);
    if (textsOf(newest as LogPage).includes(line)) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function write(backend: Backend, lineage: number, ...lines: readonly string[]): Promise<void> {
  await append(backend, lineage, ...lines);
  await settled(backend, lines.at(-1) as string);
}

async function page(backend: Backend, after = "", limit = 1000): Promise<LogPage> {
  return (await backend.read([{ log: { after, limit } }]))[0] as LogPage;
}

const textsOf = ({ lines }: LogPage): readonly string[] => lines.map(({ text }) => text);

/** The append-only log of commits. */
export const logCases: readonly BackendCase[] = [
  backendCase("an empty log has no lines and no end", async (backend) => {
    assert.deepEqual(await page(backend), { lines: [], end: "", expired: false });
  }),

  backendCase("lines are read in the order of their commits, from any position on", async (backend) => {
    await write(backend, 1, "a", "b");
    await backend.commit([{ log: { lineage: 2, lines: [{ at: 6, text: "c" }] } }]);
    await backend.commit([{ log: { lineage: 1, lines: [{ at: 7, text: 'é"\\\n😀' }] } }]);
    await settled(backend, 'é"\\\n😀');
    const all = await page(backend);
    assert.deepEqual(textsOf(all), ["a", "b", "c", 'é"\\\n😀']);
    assert.deepEqual(
      all.lines.map(({ at }) => at),
      [5, 5, 6, 7],
    );
    assert.equal(new Set(all.lines.map(({ position }) => position)).size, 4);
    assert.equal(all.end, all.lines.at(-1)?.position);
    assert.deepEqual(textsOf(await page(backend, all.lines[1]?.position)), ["c", 'é"\\\n😀']);
    assert.deepEqual(textsOf(await page(backend, "", 3)), ["a", "b", "c"]);
    assert.deepEqual(await page(backend, all.end), { lines: [], end: all.end, expired: false });
    assert.deepEqual(await page(backend, "", 0), { lines: [], end: all.end, expired: false });
  }),

  backendCase("the newest lines are read in their order", async (backend) => {
    await write(backend, 1, "a", "b", "c");
    const newest = async (after: string, limit: number): Promise<LogPage> =>
      (await backend.read([{ log: { after, limit, newest: true } }]))[0] as LogPage;
    const all = await page(backend);
    assert.deepEqual(textsOf(await newest("", 2)), ["b", "c"]);
    assert.deepEqual((await newest("", 2)).end, all.end);
    assert.deepEqual(textsOf(await newest("", 9)), ["a", "b", "c"]);
    assert.deepEqual(textsOf(await newest(all.lines[1]?.position ?? "", 2)), ["c"]);
  }),

  backendCase("a refused batch leaves no line", async (backend) => {
    await fill(backend, [[at("meta", 1, 1), text(1)]]);
    const log = { lineage: 1, lines: [{ at: 1, text: "refused" }] };
    const checks = [{ key: at("meta", 1, 1), value: text(2) }];
    assert.deepEqual(await backend.commit([{ checks, log }]), [false]);
    await write(backend, 1, "kept");
    assert.deepEqual(textsOf(await page(backend)), ["kept"]);
  }),

  backendCase("a position that the log does not have is expired", async (backend) => {
    await write(backend, 1, "a");
    for (const after of ["nonsense", "999999999999999.1", "99999999999999"]) {
      assert.equal((await page(backend, after)).expired, true, after);
    }
  }),

  backendCase("compact cuts lines that are too old, and says so to whoever has not seen them", async (backend) => {
    await write(backend, 1, "old", "older");
    const before = await page(backend);
    const line = { at: 6 + logBounds.milliseconds, text: "new" };
    await backend.commit([{ log: { lineage: 1, lines: [line] } }]);
    await settled(backend, "new");
    await backend.compact();
    const after = await page(backend, before.end);
    assert.deepEqual([textsOf(after), after.expired], [["new"], false]);
    assert.equal((await page(backend, "")).expired, true);
    assert.equal((await page(backend, before.lines[0]?.position)).expired, true);
    await backend.compact();
    assert.deepEqual(textsOf(await page(backend, before.end)), ["new"]);
    await write(backend, 1, "next");
    assert.deepEqual(textsOf(await page(backend, after.end)), ["next"]);
  }),

  backendCase("a reader that follows the log while many write sees every line once", async (backend) => {
    const writers = 8;
    const each = 12;
    const writing = Promise.all(
      Array.from({ length: writers }, async (_, writer) => {
        for (let count = 0; count < each; count++) await append(backend, writer + 1, `${writer}:${count}`);
      }),
    );
    const seen: string[] = [];
    let after = "";
    let done = false;
    let empty = 0;
    void writing.finally(() => (done = true));
    for (;;) {
      const isLast = done;
      const { lines, expired } = await page(backend, after, 5);
      assert.equal(expired, false);
      seen.push(...lines.map(({ text }) => text));
      after = lines.at(-1)?.position ?? after;
      empty = lines.length === 0 ? empty + 1 : 0;
      if (isLast && lines.length === 0 && (seen.length >= writers * each || empty > 500)) break;
      // Lets writers run whose backend waits for a turn of the event loop.
      if (lines.length === 0) await new Promise((resolve) => setTimeout(resolve, isLast ? 10 : 0));
    }
    await writing;
    assert.equal(seen.length, writers * each);
    for (let writer = 0; writer < writers; writer++) {
      const own = seen.filter((line) => line.startsWith(`${writer}:`));
      assert.deepEqual(
        own,
        Array.from({ length: each }, (_, count) => `${writer}:${count}`),
      );
    }
  }),

  {
    name: "the log goes on where it was when the store is opened again, also after compact",
    requires: "durable",
    run: async (open) => {
      let end = "";
      await using(open, async (backend) => {
        await write(backend, 1, "a", "b");
        end = (await page(backend)).end;
        await backend.compact();
      });
      await using(open, async (backend) => {
        assert.deepEqual(await page(backend, end), { lines: [], end, expired: false });
        await write(backend, 1, "c");
        assert.deepEqual(textsOf(await page(backend, end)), ["c"]);
        assert.deepEqual(textsOf(await page(backend)), ["a", "b", "c"]);
        assert.equal((await backend.size()).tables.log.records, 3);
        assert.deepEqual(await backend.verify(), []);
      });
    },
  },
];
