import { describe, expect, test } from "vitest";
import { parseAddress } from "../../../src/backends/redis/connection/address.ts";
import { crc16, slotOf } from "../../../src/backends/redis/crc16.ts";
import { KeyLayout } from "../../../src/backends/redis/layout.ts";
import { parsePosition } from "../../../src/backends/shared/merged-log.ts";
import { open } from "../../../src/index.ts";

describe("the url of a Redis store", () => {
  test("a url names hosts, user, password, database and kind", () => {
    expect(parseAddress("redis://u:p%40ss@h:1/3")).toMatchObject({
      hosts: [{ host: "h", port: 1 }],
      tls: false,
      username: "u",
      password: "p@ss",
      database: 3,
      cluster: false,
      sentinel: undefined,
    });
    expect(parseAddress("rediss://[::1]:7,b")).toMatchObject({
      hosts: [
        { host: "::1", port: 7 },
        { host: "b", port: 6379 },
      ],
      tls: true,
      cluster: true,
    });
    expect(parseAddress("redis://h?cluster").cluster).toBe(true);
    expect(parseAddress("redis://a,b/?sentinel=main")).toMatchObject({
      cluster: false,
      sentinel: "main",
      hosts: [
        { host: "a", port: 26_379 },
        { host: "b", port: 26_379 },
      ],
    });
  });

  test("a wrong url is a TypeError that shows no password", () => {
    for (const url of [
      "redis://",
      "redis://:secret@",
      "redis://:secret@h:0",
      "redis://:secret@h/x",
      "redis://:secret@h?clusters",
      "redis://:secret@a,b/2",
      "redis://:secret@h?sentinel=",
      "redis://:secret@h?cluster&sentinel=m",
      "redis://:%zz@h",
    ]) {
      expect(() => parseAddress(url), url).toThrow(TypeError);
      expect(() => parseAddress(url), url).not.toThrow(/secret/);
    }
  });

  test("wrong options are a TypeError before any connection", async () => {
    const wrong: readonly object[] = [
      { replicas: -1 },
      { shards: 0 },
      { shards: 2000 },
      { prefix: "{a}" },
      { prefix: "" },
      { patience: 1.5 },
      { connections: 0 },
      { tls: true },
      { driver: {} },
      { fsync: "full" },
      { replica: 1 },
    ];
    for (const options of wrong) {
      await expect(open("redis://127.0.0.1:1", options), JSON.stringify(options)).rejects.toThrow(TypeError);
    }
  });
});

describe("the shards of a store", () => {
  test("slots are those of the servers", () => {
    expect(crc16(Buffer.from("123456789"))).toBe(0x31c3);
    expect(slotOf("foo")).toBe(12_182);
  });

  test("a lineage that begins with a thread gets a number in the shard of the thread, and no two get the same", () => {
    const layout = new KeyLayout("p", 64);
    const seen = new Set<number>();
    for (let number = 2 ** 40 - 500; number < 2 ** 40; number++) {
      const id = `thread ${number % 7}`;
      const given = layout.numberFor(id, number);
      expect(layout.shardOfLineage(given)).toBe(layout.shardOfThread(id));
      expect(given > 0 && given < 2 ** 40).toBe(true);
      seen.add(given);
    }
    expect(seen.size).toBe(500);
  });

  test("the default shards are spread over the slots of a cluster", () => {
    const layout = new KeyLayout("threadmark", 64);
    const thirds = [0, 0, 0];
    for (let shard = 0; shard < 64; shard++) {
      const third = Math.floor(slotOf(layout.tag(shard)) / 5462);
      thirds[third] = (thirds[third] as number) + 1;
    }
    for (const count of thirds) expect(count).toBeGreaterThan(14);
  });

  test("a text that is no position of the log is none", () => {
    expect(parsePosition("0:3,2:5", 4)).toEqual([3, 0, 5, 0]);
    expect(parsePosition("", 2)).toEqual([0, 0]);
    for (const text of ["x", "4:1", "1:", "1.5", "-1"]) expect(parsePosition(text, 4), text).toBeUndefined();
  });
});
