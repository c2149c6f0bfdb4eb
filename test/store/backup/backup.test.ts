import { randomBytes } from "node:crypto";
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { open, type Store } from "../../../src/index.ts";
import { sharedMemory } from "../../../src/testing/index.ts";
import { locations } from "../../support/places.ts";
import { makeFolder, removeFolder } from "../../support/temporary-folder.ts";

interface State {
  readonly n: number;
  readonly text?: string;
}

const folders: string[] = [];

function folder(): string {
  const made = makeFolder();
  folders.push(made);
  return made;
}

afterEach(() => {
  for (const made of folders.splice(0)) removeFolder(made);
});

async function fill(store: Store<State>): Promise<void> {
  for (const id of ["a", "b"]) {
    for (let n = 0; n < 5; n += 1) {
      await store
        .thread(id)
        .put({ state: { n, text: id.repeat(n === 2 ? 9000 : 3) }, id: `${id}${n}`, attributes: { n } });
    }
    await store.thread(id).putWrites(`${id}4`, { task: "t", writes: [{ channel: "c", value: id }] });
  }
  await store.thread("a").fork({ into: "f", at: { step: 2 }, edits: { n: 99 } });
}

async function contents(store: Store<State>): Promise<unknown> {
  const all: unknown[] = [];
  for await (const { id } of store.threads()) {
    const thread = store.thread(id);
    all.push([id, await thread.attributes()]);
    for await (const checkpoint of thread.history({ states: true })) {
      all.push([checkpoint, await thread.writes(checkpoint.id)]);
    }
  }
  return all;
}

describe.each(locations)("a backup on $name", (backend) => {
  test("backups, whole and since a cursor, restore the store that they were made of, deletions included", async () => {
    const place = await backend.make();
    const at = folder();
    const store = await open<State>(place.url, place.options ?? {});
    // On a server that tests share, transactions of others hold changes back, whose threads are then backed up once more.
    const isAlone = backend.name !== "postgres";
    const consistent = isAlone ? "store" : expect.any(String);
    try {
      await fill(store);
      const whole = await store.backup(join(at, "1.bundle"));
      expect(whole).toMatchObject({ consistent, threads: 3, deleted: 0, checkpoints: 14 });
      expect(whole.bytes).toBe(statSync(join(at, "1.bundle")).size);
      expect(statSync(join(at, "1.bundle")).mode & 0o777).toBe(0o600);

      await store.thread("a").put({ update: { set: { n: 50 } } });
      await store.thread("b").delete();
      await store.thread("new").put({ state: { n: 1 } });
      await store.thread("f").setAttributes({ n: 7 });
      const { cursor, ...second } = await store.backup(join(at, "2.bundle"), { since: whole.cursor });
      expect(second).toMatchObject({ consistent, threads: 3, deleted: 1, checkpoints: 11 });
      await store.thread("new").putWrites((await store.thread("new").latest())?.id ?? "", {
        task: "t",
        writes: [{ channel: "c", value: 1, index: -1 }],
      });
      const third = await store.backup(pathToFileURL(join(at, "3.bundle")), { since: cursor });
      if (isAlone) expect(third).toMatchObject({ threads: 1, deleted: 0 });
      const truth = await contents(store);

      const restored = await open<State>(`file:${join(at, "restored")}`);
      const all = ["1", "2", "3"].map((name) => join(at, `${name}.bundle`));
      const result = await restored.restore(all);
      expect(result.cursor).toBe(third.cursor);
      if (isAlone) expect(result).toMatchObject({ restored: 7, deleted: 1, checkpoints: 26 });
      expect(await contents(restored)).toEqual(truth);
      expect(await restored.verify()).toEqual({ ok: true, faults: [] });
      // Again, over what is there, and over threads that differ.
      await restored.thread("a").put({ state: { n: -1 } });
      await restored.restore(all);
      expect(await contents(restored)).toEqual(truth);
      await restored.close();
    } finally {
      await store.close();
      await place.cleanup();
    }
  });
});

describe("a backup", () => {
  test("a backup of a SQLite store is of one moment while others write", async () => {
    const at = folder();
    const url = `sqlite:${join(at, "store.db")}` as const;
    const store = await open<State>(url, { fsync: "normal" });
    const other = await open<State>(url, { fsync: "normal" });
    for (let index = 0; index < 40; index += 1) await store.thread(`t${index}`).put({ state: { n: 0 } });
    let writing = true;
    const writer = (async () => {
      // Thread by thread, all get the same number: at one moment they differ by one at most.
      for (let n = 1; writing; n += 1) {
        for (let index = 0; index < 40; index += 1) await other.thread(`t${index}`).put({ state: { n } });
      }
    })();
    const stream = new PassThrough();
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    const result = await store.backup(stream);
    writing = false;
    await writer;
    expect(result).toMatchObject({ consistent: "store", threads: 40 });
    writeFileSync(join(at, "moment.bundle"), Buffer.concat(chunks));
    const restored = await open<State>("memory:");
    await restored.restore(join(at, "moment.bundle"));
    const numbers: number[] = [];
    for (let index = 0; index < 40; index += 1)
      numbers.push((await restored.thread(`t${index}`).latest())?.state.n ?? -1);
    expect(Math.max(...numbers) - Math.min(...numbers)).toBeLessThanOrEqual(1);
    // Of two neighbours, the later one is never ahead.
    expect(numbers.every((n, index) => index === 0 || n <= (numbers[index - 1] as number))).toBe(true);
    await store.close();
    await other.close();
  });

  test("a backup of a store in memory that is written meanwhile says that it is thread by thread", async () => {
    const store = await open<State>("memory:");
    await fill(store);
    const stream = new PassThrough();
    let changed = false;
    stream.on("data", () => {});
    const progress = async (): Promise<void> => {
      if (changed) return;
      changed = true;
      await store.thread("b").put({ state: { n: 5 } });
    };
    const result = await store.backup(stream, { progress: () => void progress() });
    expect(result.consistent).toBe("thread");
  });

  test("a damaged, cut or changed backup, or one out of order, is refused, and the store stays as it was", async () => {
    const at = folder();
    const store = await open<State>("memory:");
    await fill(store);
    const { cursor } = await store.backup(join(at, "1.bundle"));
    await store.thread("a").put({ state: { n: 6 } });
    const { cursor: next } = await store.backup(join(at, "2.bundle"), { since: cursor });
    await store.thread("a").delete();
    await store.backup(join(at, "3.bundle"), { since: next });
    const bytes = readFileSync(join(at, "3.bundle"), "utf8");
    const lines = bytes.split("\n");
    const target = await open<State>("memory:");
    await target.thread("kept").put({ state: { n: 1 } });
    const before = await contents(target);
    const damaged: Readonly<Record<string, string>> = {
      cut: bytes.slice(0, -20),
      "without its end": `${lines.slice(0, -2).join("\n")}\n`,
      "without a line": lines.filter((_, index) => index !== 1).join("\n"),
      "a bit flipped": bytes.replace("deleted", "deletee"),
      empty: "",
    };
    for (const text of Object.values(damaged)) {
      writeFileSync(join(at, "bad.bundle"), text);
      const refusal = target.restore([join(at, "1.bundle"), join(at, "2.bundle"), join(at, "bad.bundle")]);
      await expect(refusal).rejects.toThrow(expect.objectContaining({ code: "CORRUPT" }));
      expect(await contents(target)).toEqual(before);
    }
    for (const order of [["2"], ["1", "3"], ["2", "1"], ["1", "3", "2"]]) {
      const files = order.map((name) => join(at, `${name}.bundle`));
      await expect(target.restore(files)).rejects.toThrow(expect.objectContaining({ code: "CONFLICT" }));
    }
    expect(await contents(target)).toEqual(before);
    await expect(target.import(["2.bundle"].map((name) => readFileSync(join(at, name))))).rejects.toThrow(
      expect.objectContaining({ code: "UNSUPPORTED" }),
    );
    await expect(target.restore(join(at, "none.bundle"))).rejects.toThrow(
      expect.objectContaining({ code: "NOT_FOUND" }),
    );
    for (const wrong of [[], 7, ""]) await expect(target.restore(wrong as never)).rejects.toThrow(TypeError);
  });

  test("a backup that is stopped or fails leaves no file, and an unknown cursor or option is refused", async () => {
    const at = folder();
    const store = await open<State>(`sqlite:${join(at, "store.db")}`);
    await fill(store);
    const stop = new AbortController();
    const progress = (): void => stop.abort(new Error("enough"));
    const file = join(at, "backup.bundle");
    await expect(store.backup(file, { progress, signal: stop.signal })).rejects.toThrow("enough");
    await expect(store.backup(join(at, "missing", "backup.bundle"))).rejects.toThrow(
      expect.objectContaining({ code: "BACKEND" }),
    );
    await expect(store.backup(file, { since: "nonsense" })).rejects.toThrow(TypeError);
    await expect(store.backup(file, { from: "x" } as never)).rejects.toThrow(TypeError);
    await expect(store.backup(7 as never)).rejects.toThrow(TypeError);
    expect(readdirSync(at).filter((name) => name.includes("bundle"))).toEqual([]);
    appendFileSync(file, "there before");
    await store.backup(file);
    expect(readFileSync(file, "utf8")).toMatch(/^\{"crc"/);
    await store.close();
    expect(readdirSync(at).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  test("the backup of an encrypted store is encrypted, and restores with its key only", async () => {
    const at = folder();
    const encryption = { current: "one", keys: { one: randomBytes(32) } };
    const store = await open<State>(`sqlite:${join(at, "store.db")}`, { encryption });
    await store.thread("t").put({ state: { n: 1, text: "pomegranate" } });
    const file = join(at, "backup.bundle");
    const { consistent, checkpoints } = await store.backup(file);
    expect({ consistent, checkpoints }).toEqual({ consistent: "store", checkpoints: 1 });
    expect(readFileSync(file, "utf8")).not.toContain("pomegranate");
    const place = sharedMemory();
    const again = await open<State>(place, { encryption });
    await again.restore(file);
    expect((await again.thread("t").latest())?.state.text).toBe("pomegranate");
    for (const options of [{}, { encryption: { current: "one", keys: { one: randomBytes(32) } } }]) {
      const other = await open("memory:", options);
      await expect(other.restore(file)).rejects.toThrow(expect.objectContaining({ code: "KEY" }));
    }
    // Lines cannot be exchanged, repeated or left out.
    const lines = readFileSync(file, "utf8").split("\n");
    for (const order of [
      [0, 2, 1, 3, 4],
      [0, 1, 1, 2, 3, 4],
      [0, 1, 2, 4],
    ]) {
      writeFileSync(join(at, "bad.bundle"), `${order.map((index) => lines[index]).join("\n")}\n`);
      await expect((await open("memory:", { encryption })).restore(join(at, "bad.bundle"))).rejects.toThrow(
        expect.objectContaining({ code: "CORRUPT" }),
      );
    }
    await store.close();
  });

  test("export writes an encrypted bundle on request, which a store with the keys imports", async () => {
    const encryption = { current: "one", keys: { one: randomBytes(32) } };
    const store = await open<State>("memory:", { encryption });
    await fill(store);
    const lines: string[] = [];
    for await (const line of store.export({ encrypted: true })) lines.push(line);
    expect(lines.join("")).not.toContain('"kind":"checkpoint"');
    const other = await open<State>("memory:", { encryption });
    expect(await other.import(lines)).toMatchObject({ imported: 3 });
    expect(await contents(other)).toEqual(await contents(store));
    await expect((await open("memory:")).import(lines)).rejects.toThrow(expect.objectContaining({ code: "KEY" }));
    await expect((await open("memory:")).export({ encrypted: true }).next()).rejects.toThrow(
      expect.objectContaining({ code: "KEY" }),
    );
  });
});

test("a backup since a cursor has the threads that something was erased from", async () => {
  const at = folder();
  const store = await open<State>("memory:");
  await store.thread("t").put({ state: { n: 1, text: "a secret of somebody" } });
  const { cursor } = await store.backup(join(at, "1.bundle"));
  await store.thread("t").erase(["text"]);
  await store.backup(join(at, "2.bundle"), { since: cursor });
  await store.close();
  const restored = await open<State>("memory:");
  await restored.restore([join(at, "1.bundle"), join(at, "2.bundle")]);
  expect((await restored.thread("t").latest())?.state.text).toBe("[erased]");
  await restored.close();
});
