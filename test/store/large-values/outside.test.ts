import { readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { s3, signedHeaders } from "../../../examples/s3-values.ts";
import { open } from "../../../src/api/open.ts";
import { newObjectName } from "../../../src/engine/records/values.ts";
import type { ValueDriver } from "../../../src/index.ts";
import { directory } from "../../../src/large-values/index.ts";
import { makeFolder, removeFolder } from "../../support/temporary-folder.ts";
import { documentOf } from "./support.ts";

// biome-ignore lint/suspicious/noExplicitAny: states of every shape.
type Free = Record<string, any>;

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

function folder(): string {
  const path = makeFolder();
  undo.push(() => removeFolder(path));
  return path;
}

/** Puts, edits, forks and removes large values, and checks that the place holds what is needed, and in the end nothing. */
async function holdsToTheDriver(driver: ValueDriver, count: () => Promise<number> | number): Promise<void> {
  const url = `sqlite:${join(folder(), "store.db")}`;
  const store = await open<Free>(url, { largeValues: { from: 1_000, driver }, packRows: 4 });
  const thread = store.thread("t");
  const text = documentOf(20_000, "größer, 大きい");
  await thread.put({ state: { a: text, b: [text] } });
  for (let n = 0; n < 6; n++) await thread.put({ update: { set: { [`f${n}`]: documentOf(2_000, n) } } });
  expect(await count()).toBe(7);
  const other = await open<Free>(url, { largeValues: { from: 1_000, driver } });
  expect((await other.thread("t").latest())?.state).toMatchObject({ a: text, b: [text], f5: documentOf(2_000, 5) });
  expect(await other.verify()).toEqual({ ok: true, faults: [] });
  await other.close();
  await thread.put({ state: { last: text } });
  await thread.prune({ keepLast: 1 });
  expect(await count()).toBe(1);
  await thread.delete();
  expect(await count()).toBe(0);
  await store.close();
}

describe("a directory of large values", () => {
  it("the directory holds each value as a file for its owner, as long as it is needed", async () => {
    const path = join(folder(), "values");
    await holdsToTheDriver(directory(path), () => readdirSync(path).length);
    const driver = directory(path);
    await driver.put("name", Buffer.from("bytes"));
    expect(statSync(join(path, "name")).mode & 0o777).toBe(0o600);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  it("the directory is swept of uploads without a commit once they are a day old, and of nothing else", async () => {
    const path = join(folder(), "values");
    const driver = directory(path);
    const store = await open<Free>("memory:", { largeValues: { from: 1_000, driver } });
    await store.thread("t").put({ state: { text: documentOf(5_000) } });
    const [used] = readdirSync(path);
    const [young, old, broken] = [0, 1, 2].map((n) => newObjectName(n + 1, `${n}`.repeat(43))) as [
      string,
      string,
      string,
    ];
    await driver.put(young, Buffer.from("1"));
    await driver.put(old, Buffer.from("2"));
    writeFileSync(join(path, `${broken}.part`), "3");
    writeFileSync(join(path, "notes.txt"), "not ours");
    const dayBefore = new Date(Date.now() - 25 * 3_600_000);
    for (const name of [used as string, old, `${broken}.part`, "notes.txt"]) {
      utimesSync(join(path, name), dayBefore, dayBefore);
    }
    await store.compact();
    expect(readdirSync(path).sort()).toEqual([used, "notes.txt", young].sort());
    await store.close();
  });

  it("knows no names with a path in them, and lists nothing where it does not exist", async () => {
    const driver = directory(join(folder(), "values"));
    await expect(driver.get("../secret")).rejects.toThrow(TypeError);
    await expect(driver.put("a/b", new Uint8Array())).rejects.toThrow(TypeError);
    for await (const _ of driver.list()) expect.unreachable();
    expect(await driver.get("none")).toBeUndefined();
    await driver.delete("none");
    expect(() => directory("")).toThrow(TypeError);
  });
});

/** A server that speaks as much of S3 as the driver needs, two objects a page. */
async function bucketServer(): Promise<{ readonly endpoint: string; readonly objects: Map<string, Buffer> }> {
  const objects = new Map<string, Buffer>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "", "http://localhost");
    const key = decodeURIComponent(url.pathname.slice("/bucket/".length));
    if (!/^AWS4-HMAC-SHA256 Credential=me\//.test(request.headers.authorization ?? "")) response.statusCode = 403;
    else if (request.method === "PUT") {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      objects.set(key, Buffer.concat(parts));
    } else if (request.method === "DELETE") {
      response.statusCode = 204;
      objects.delete(key);
    } else if (url.searchParams.has("list-type")) {
      response.write(listing(objects, url.searchParams));
    } else if (objects.has(key)) response.write(objects.get(key));
    else response.statusCode = 404;
    response.end();
  };
  const server: Server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  undo.push(() => server.close());
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, objects };
}

function listing(objects: ReadonlyMap<string, Buffer>, query: URLSearchParams): string {
  const names = [...objects.keys()].filter((name) => name.startsWith(query.get("prefix") ?? "")).sort();
  const start = Number(query.get("continuation-token") ?? 0);
  const page = names.slice(start, start + 2);
  const more = start + 2 < names.length;
  const entries = page.map(
    (key) => `<Contents><Key>${key}</Key><LastModified>2020-01-01T00:00:00Z</LastModified></Contents>`,
  );
  const next = more ? `<NextContinuationToken>${start + 2}</NextContinuationToken>` : "";
  return `<ListBucketResult><IsTruncated>${more}</IsTruncated>${next}${entries.join("")}</ListBucketResult>`;
}

describe("the example for S3", () => {
  it("the example for S3 keeps large values in a bucket, as long as they are needed", async () => {
    const { endpoint, objects } = await bucketServer();
    const driver = s3({ endpoint, bucket: "bucket", prefix: "prod/", accessKeyId: "me", secretAccessKey: "secret" });
    await holdsToTheDriver(driver, () => objects.size);
    for (const name of ["a", "b", "c", "d", "e"]) await driver.put(name, Buffer.from(name));
    objects.set("elsewhere/x", Buffer.from("x"));
    const names: string[] = [];
    for await (const { name, at } of driver.list()) {
      names.push(name);
      expect(at).toBe(Date.parse("2020-01-01T00:00:00Z"));
    }
    expect(names).toEqual(["a", "b", "c", "d", "e"]);
    const stranger = s3({ endpoint, bucket: "bucket", accessKeyId: "you", secretAccessKey: "secret" });
    await expect(stranger.get("a")).rejects.toThrow("403");
  });

  it("signs requests as the examples in Amazon's documentation are signed", () => {
    const { authorization } = signedHeaders({
      method: "GET",
      url: new URL("https://examplebucket.s3.amazonaws.com/test.txt"),
      headers: { range: "bytes=0-9" },
      payload: "",
      now: new Date("2013-05-24T00:00:00Z"),
      region: "us-east-1",
      accessKeyId: "AKIAIOSFODNN7EXAMPLE",
      secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    });
    expect(authorization).toContain("f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  });
});
