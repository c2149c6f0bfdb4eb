import { expect, it } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Key } from "../../../src/backend.ts";
import {
  entryMember,
  entryOf,
  foundOf,
  KeyLayout,
  keyLength,
  keyText,
  memberOf,
  valueOf,
} from "../../../src/backends/redis/layout.ts";
import { fileServer, makeRedis } from "../../support/redis/places.ts";

it("a store keeps the shards that it was made with", async () => {
  const place = await makeRedis({ shards: 4 });
  const server = await fileServer();
  const written = await open<{ n: number }>(place.url, place.options);
  await written.thread("before").put({ state: { n: 1 } });
  await written.close();
  const store = await open<{ n: number }>(place.url, { ...place.options, shards: 8 });
  expect((await store.thread("before").latest())?.state).toEqual({ n: 1 });
  await Promise.all(["after", "before"].map((id) => store.thread(id).put({ state: { n: 2 } })));
  const record = String(await server.command("GET", `{${place.options.prefix}}:layout`));
  expect(JSON.parse(record)).toEqual({ version: 3, shards: 4 });
  expect(await store.thread("before").count()).toBe(2);
  expect(await store.verify()).toEqual({ ok: true, faults: [] });
  await store.close();
});

const integers = [0, 1, 127, 128, 2 ** 21 - 1, 2 ** 21, 2 ** 31, 2 ** 32 - 1];
const tapeNumbers = [...integers, 2 ** 35, 2 ** 40 - 1];

it.each(["meta", "tail", "value"] as const)("keys of the table %s are in order, and read back", (table) => {
  const parts = table === "value" ? integers : [0];
  const keys = tapeNumbers.flatMap((group) =>
    (table === "meta" ? tapeNumbers : integers).flatMap((item) =>
      parts.map((part): Key => ({ table, lineage: group, group, item, part })),
    ),
  );
  const members = keys.map((key) => Buffer.from(memberOf(keyText(key), `of ${key.item} ${key.part} é`) as string));
  for (const [at, member] of members.entries()) {
    const { item, part } = keys[at] as Key;
    expect(foundOf(member, table)).toEqual({ item, part, value: `of ${item} ${part} é` });
    if (at > 0) expect(Buffer.compare(members[at - 1] as Buffer, member)).toBe(-1);
  }
});

it("a value reads back as it was, whether it is sent as text or as bytes", () => {
  const key = keyText({ table: "tail", lineage: 1, group: 1, item: 1, part: 0 });
  for (const value of ["", "é", "x".repeat(65_535), "ü".repeat(65_536), Uint8Array.from([0, 255, 128])]) {
    expect(valueOf(Buffer.from(memberOf(key, value) as string), keyLength("tail"))).toEqual(value);
  }
});

it("an index entry reads back", () => {
  const entry = { text: "s:é\0x", lineage: 2 ** 40 - 1, tape: 2 ** 35 };
  expect(entryOf(Buffer.from(entryMember(entry)))).toEqual(entry);
});

it("a thread's lineage has a number below 2^40 in the shard of its directory entry", () => {
  for (const shards of [1, 7, 64, 256]) {
    const layout = new KeyLayout("p", shards);
    for (const number of [1, 2, 2 ** 31, 2 ** 39 + 1, 2 ** 40 - 1]) {
      for (const id of ["a", "b", "c"]) {
        const lineage = layout.numberFor(id, number);
        expect(lineage).toBeGreaterThan(0);
        expect(lineage).toBeLessThan(2 ** 40);
        if (shards > 1) expect(layout.shardOfLineage(lineage)).toBe(layout.shardOfThread(id));
      }
    }
  }
});
