import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { folderOfTest } from "../../support/folders-of-tests.ts";
import { threadmark } from "../run.ts";

const key = randomBytes(32).toString("hex");
const other = randomBytes(32).toString("base64");

async function encrypted(): Promise<{ readonly at: string; readonly url: string; readonly file: string }> {
  const at = folderOfTest();
  const url = `sqlite:${join(at, "store.db")}`;
  const store = await open(url, { encryption: { current: "one", keys: { one: key } } });
  await store.thread("user-42").put({ state: { topic: "tea" } });
  await store.close();
  const file = join(at, "keys.txt");
  writeFileSync(file, `# of the store\none = ${key}\n`);
  return { at, url, file };
}

test("commands take keys from a file or from the environment, and say KEY without them", async () => {
  const { url, file } = await encrypted();
  expect(await threadmark(["show", "user-42", "--json", url])).toMatchObject({ code: 1, out: "" });
  expect((await threadmark(["show", "user-42", "--json", url])).err).toContain('"code":"KEY"');
  for (const surroundings of [{ env: { THREADMARK_KEY_FILE: file } }, { env: { THREADMARK_KEYS: `one=${key}` } }]) {
    expect((await threadmark(["show", "user-42", url], surroundings)).out).toContain("tea");
  }
  expect((await threadmark(["show", "user-42", url, "--key-file", file])).out).toContain("tea");
});

test("a key file that does not read is told without a word of its keys", async () => {
  const { at, url } = await encrypted();
  const file = join(at, "bad.txt");
  for (const text of ["", key, `one=${key.slice(1)}`, `one=${key}\n${other}`]) {
    writeFileSync(file, text);
    const { code, err } = await threadmark(["threads", url, "--key-file", file]);
    expect(code).toBe(2);
    expect(err).toContain("bad.txt");
    expect(err).not.toContain(key.slice(1, 20));
  }
  expect((await threadmark(["threads", url, "--key-file", join(at, "none.txt")])).code).toBe(2);
});

test("rotate wraps the keys by the first one of the file, and encrypts a plain store with --migrate", async () => {
  const { at, url, file } = await encrypted();
  writeFileSync(file, `two=${other}\none=${key}\n`);
  const rotated = await threadmark(["rotate", "--json", url, "--key-file", file]);
  expect(JSON.parse(rotated.out)).toEqual({ wrapped: 1, rewritten: 0 });
  writeFileSync(file, `two=${other}\n`);
  expect((await threadmark(["verify", url, "--key-file", file])).code).toBe(0);

  const plain = `sqlite:${join(at, "plain.db")}`;
  const store = await open(plain);
  await store.thread("t").put({ state: { topic: "pomegranate" } });
  await store.close();
  const keyless = await threadmark(["rotate", plain]);
  expect([keyless.code, keyless.err]).toEqual([2, expect.stringContaining("--key-file")]);
  expect((await threadmark(["rotate", plain, "--key-file", file])).err).toContain("not encrypted");
  expect((await threadmark(["rotate", "--migrate", plain, "--key-file", file])).code).toBe(0);
  expect((await threadmark(["compact", plain, "--key-file", file])).code).toBe(0);
  expect(readFileSync(join(at, "plain.db")).includes("pomegranate")).toBe(false);
});

test("backup and restore move a store by files, whole and since a cursor", async () => {
  const { at, url, file } = await encrypted();
  const env = { THREADMARK_KEY_FILE: file };
  const [first, second] = [join(at, "1.bundle"), join(at, "2.bundle")];
  const whole = await threadmark(["backup", first, url], { env });
  expect(whole.err).toContain("Wrote 1 thread, 1 checkpoint");
  const store = await open(url, { encryption: { current: "one", keys: { one: key } } });
  await store.thread("next").put({ state: { topic: "coffee" } });
  await store.close();
  const next = await threadmark(["backup", second, url, "--since", whole.out.trim(), "--json"], { env });
  expect(JSON.parse(next.out)).toMatchObject({ consistent: "store", threads: 1, deleted: 0 });
  const target = `file:${join(at, "restored")}`;
  const restored = await threadmark(["restore", first, second, target, "--json"], { env });
  expect(JSON.parse(restored.out)).toMatchObject({ restored: 2, deleted: 0, checkpoints: 2 });
  expect((await threadmark(["show", "next", target], { env })).out).toContain("coffee");
  expect((await threadmark(["restore", second, target], { env })).code).toBe(4);
});

test("restore begins a store with hidden ids, and every command finds its threads by whole ids", async () => {
  const { at, url, file } = await encrypted();
  const env = { THREADMARK_KEY_FILE: file };
  const backup = join(at, "1.bundle");
  expect((await threadmark(["backup", backup, url], { env })).code).toBe(0);
  const hidden = `sqlite:${join(at, "hidden.db")}`;
  expect((await threadmark(["restore", backup, hidden, "--hide-ids"])).code).toBe(2);
  expect((await threadmark(["restore", backup, hidden, "--hide-ids"], { env })).code).toBe(0);
  expect(readFileSync(join(at, "hidden.db")).includes("user-42")).toBe(false);
  expect((await threadmark(["restore", backup, url, "--hide-ids"], { env })).err).toContain("hideIds");
  expect((await threadmark(["threads", hidden], { env })).out).toContain("user-42");
  expect((await threadmark(["show", "user-42", hidden], { env })).out).toContain("tea");
  expect((await threadmark(["history", "user-42", "--graph", hidden], { env })).code).toBe(0);
  expect((await threadmark(["complete", "--", "show", "--url", hidden, "user"], { env })).out).toContain("user-42");
  const byPrefix = await threadmark(["threads", "--prefix", "user", hidden], { env });
  expect([byPrefix.code, byPrefix.err]).toEqual([2, expect.stringContaining("hideIds")]);
});
