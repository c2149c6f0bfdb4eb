import { rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { bundled } from "./bundle.ts";
import type * as Entry from "./kit-entry.ts";

// The kit compares by node:assert. All else, the store included, is what browsers get.
const folder = await bundled("test/web/kit-entry.ts", ["node:assert", "node:assert/strict"]);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { cases, missing, open, runCase, sharedMemory } = (await import(
  pathToFileURL(join(folder, "main.js")).href
)) as typeof Entry;

const capabilities = { durable: false, processes: false };

describe("a store of the web build", () => {
  it("the build for the web has the kit's cases", () => expect(cases.length).toBeGreaterThan(200));

  // It has no node:crypto and no files.
  const ofNode = /^(encryption|backup):/;
  const own = cases.filter((one) => missing(one, capabilities).length === 0 && !ofNode.test(one.name));

  it.each(own)("$name", async (testCase) => {
    const place = sharedMemory();
    await runCase(testCase, capabilities, { open: (options) => open(place, options), cleanup: async () => {} });
  });

  it.each(["sqlite:x.db", "file:./x", "postgres://127.0.0.1/x"])(
    "the build for the web refuses %s and says what to use",
    async (url) => {
      await expect(open(url)).rejects.toMatchObject({ code: "UNSUPPORTED", message: /memory:, or open\(backend\)/ });
    },
  );

  it.each(["deflate", "zstd"] as const)("the build for the web refuses to compress with %s", async (compression) => {
    await expect(open("memory:", { compression })).rejects.toMatchObject({ code: "UNSUPPORTED" });
  });
});
