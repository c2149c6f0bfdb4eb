import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { routes } from "../../src/inspector/api/routes.ts";
import { downloads } from "../../src/inspector/http/downloads.ts";

const text = readFileSync(new URL("../../docs/reference/http.md", import.meta.url), "utf8");

test("docs/reference/http.md has every path of the API under its method, and no other", () => {
  const documented = new Map<string, string>();
  let method = "";
  for (const line of text.split("\n")) {
    method = /^\| (GET|POST) \|/.exec(line)?.[1] ?? method;
    const path = /^\| `(\/api\/[^`]+)`/.exec(line)?.[1];
    if (path !== undefined) documented.set(path, method);
  }
  const served = new Map([...routes].map(([path, route]) => [path, route.method as string]));
  for (const path of downloads.keys()) served.set(path, "GET");
  served.set("/api/live", "GET");
  expect([...documented].sort()).toEqual([...served].sort());
});

test("docs/reference/http.md says which are refused with --read-only", () => {
  const harmless = [...routes].filter(([, { method, changes }]) => method === "POST" && changes !== true);
  const posts = [...text.slice(text.indexOf("| POST |")).matchAll(/^\| `(\/api\/[^`]+)`/gm)].map(([, path]) => path);
  expect(posts.slice(0, 3)).toEqual(expect.arrayContaining(harmless.map(([path]) => path)));
  expect(harmless).toHaveLength(3);
  expect(text).toContain("All but the first three, and `/api/export`, are refused with `--read-only`.");
});
