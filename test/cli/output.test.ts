import { spawnSync } from "node:child_process";
import { chmodSync, closeSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { printable } from "../../src/cli/output/printable.ts";
import { folderOfTest } from "../support/folders-of-tests.ts";
import { storeWith, threadmark } from "./run.ts";

const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

function filled(): Promise<string> {
  return storeWith(async (store) => {
    await store.thread("t").put({ state: { n: 1 } });
  });
}

describe("export", () => {
  test("a full device is named with what to do", async () => {
    const url = await filled();
    const { code, err } = await threadmark(["export", url, "--output", "/dev/full"]);
    expect(code).toBe(1);
    expect(err).toContain("/dev/full could not be written: the disk is full. Make room and try again.");
  });

  test("a full disk behind the standard output ends with a message, not with a stack trace", async () => {
    const url = await filled();
    const full = openSync("/dev/full", "w");
    const { status, stderr } = spawnSync(process.execPath, [main, "export", url], { stdio: ["ignore", full, "pipe"] });
    closeSync(full);
    expect(status).toBe(1);
    expect(stderr.toString()).toBe(
      "threadmark: The output could not be written: the disk is full. Make room and try again. The part already written is incomplete.\n",
    );
  });

  test("a directory that does not exist is named, and nothing is left", async () => {
    const url = await filled();
    const directory = folderOfTest();
    const { code, err } = await threadmark(["export", url, "--output", join(directory, "none", "a.bundle")]);
    expect(code).toBe(1);
    expect(err).toContain("its directory does not exist");
    expect(readdirSync(directory)).toEqual([]);
  });

  test("a new bundle is for its owner only, and one that is replaced keeps its permissions", async () => {
    const url = await filled();
    const bundle = join(folderOfTest(), "a.bundle");
    expect((await threadmark(["export", url, "--output", bundle])).code).toBe(0);
    expect(statSync(bundle).mode & 0o777).toBe(0o600);
    const content = readFileSync(bundle, "utf8");
    writeFileSync(bundle, "old");
    chmodSync(bundle, 0o664);
    expect((await threadmark(["export", url, "--output", bundle])).code).toBe(0);
    expect(statSync(bundle).mode & 0o777).toBe(0o664);
    expect(readFileSync(bundle, "utf8").split("\n").length).toBe(content.split("\n").length);
  });
});

describe("set", () => {
  test.each(['{"$":"bogus"}', '{"$":"date","v":"zzz"}', '{"$":1}', '[{"$":"map","v":[[1]]}]'])(
    "the value %s is refused as a wrong argument, and nothing is written",
    async (json) => {
      const url = await filled();
      const { code, err } = await threadmark(["set", "t", "n", json, url]);
      expect([code, err]).toEqual([2, expect.stringContaining("has a tag that stands for no value")]);
      expect(err).not.toContain("verify()");
      expect((await threadmark(["history", "t", url, "--json"])).out.trim().split("\n").length).toBe(1);
    },
  );
});

describe("text on a terminal", () => {
  const marks = ["\u061c", "\u200e", "\u200f", "\u202e", "\u2066", "\u2069", "\u00ad", "\u200b", "\u2028", "\ufeff"];

  test.each([...marks, "\u{e0001}", "\u009b", "\u001b"])("the mark %j in an id is escaped", async (mark) => {
    const id = `a${mark}b`;
    const url = await storeWith(async (store) => {
      await store.thread(id).put({ state: {} });
    });
    for (const parameters of [
      ["threads", url],
      ["threads", url, "--json"],
      ["show", "absent", url],
      ["show", id, url],
    ]) {
      const { out, err } = await threadmark(parameters);
      expect(out + err).not.toContain(mark);
    }
    const { out } = await threadmark(["threads", url, "--json"]);
    expect(JSON.parse(out)).toMatchObject({ id });
  });

  test("joiners stay, since scripts and emoji are written with them", () => {
    expect(printable("👩‍💻 نمی‌خواهم")).toBe("👩‍💻 نمی‌خواهم");
  });

  test("whatever is escaped in JSON stands for the same text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const shown = printable(JSON.stringify(text));
        expect(JSON.parse(shown)).toBe(text);
        expect(shown).not.toMatch(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});
