import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { memory } from "../../src/backends/memory/index.ts";
import { type AnyOpenOptions, open } from "../../src/index.ts";
import { directory } from "../../src/large-values/index.ts";
import { forwarding } from "../../src/testing/index.ts";
import { createDatabase } from "../support/postgres/database.ts";
import { startServer } from "../support/redis/server.ts";
import { makeFolder, removeFolder } from "../support/temporary-folder.ts";

const encryption = { current: "one", keys: { one: randomBytes(32) } };
/** A word that nothing else on a shared server has. */
const MARKER = `${randomBytes(6).toString("hex")} pomegranate`;

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

/** The marker as text, and as parts of base64. */
const forms = [MARKER, ...[0, 1, 2].map((cut) => Buffer.from(MARKER.slice(cut)).toString("base64").slice(0, 10))];

/** Returns the files below a folder in which the marker stands, as text or in base64. */
function leaks(folder: string): string[] {
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

  test("no byte of a marker is in the append-only file or in a snapshot of a Redis server", async () => {
    // Compressed texts could not be searched.
    const server = await startServer("--rdbcompression", "no");
    onTestFinished(() => server.remove());
    await writeEverywhere(server.url, {});
    await server.command("SAVE");
    expect(leaks(server.folder)).toEqual([]);
    const plain = await open(server.url, { prefix: "plain" });
    await plain.thread("t").put({ state: { [MARKER]: MARKER } });
    await plain.close();
    expect(leaks(server.folder)).not.toEqual([]);
  });

  test("no byte of a marker is in the tables, the indexes or the write-ahead log of a Postgres server", async () => {
    const database = await createDatabase();
    onTestFinished(() => database.drop());
    const [first] = await database.query("select pg_walfile_name(pg_current_wal_lsn()) as name");
    const found = async (): Promise<readonly string[]> => {
      await database.query("checkpoint");
      const rows = await database.query(
        `select path from (
           select pg_relation_filepath(oid) as path from pg_class where relkind in ('r', 'i', 't') and pg_relation_size(oid) > 0
           union all select 'pg_wal/' || name from pg_ls_waldir()
             where name between $2 and pg_walfile_name(pg_current_wal_lsn())) as files
         where exists (select from unnest($1::text[]) as form
           where position(convert_to(form, 'UTF8') in pg_read_binary_file(path, true)) > 0)`,
        [forms, first?.["name"]],
      );
      return rows.map(({ path }) => String(path));
    };
    await writeEverywhere(database.url, {});
    expect(await found()).toEqual([]);
    const plain = await open(database.url, { databaseSchema: "plain" });
    await plain.thread("t").put({ state: { [MARKER]: MARKER } });
    await plain.close();
    const leaking = await found();
    expect(leaking.some((path) => path.startsWith("pg_wal/"))).toBe(true);
    expect(leaking.some((path) => path.startsWith("base/"))).toBe(true);
  });

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
