// Runs inside an empty project that has the packed package installed, under whatever Node the machine has.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const manifest = JSON.parse(readFileSync("node_modules/threadmark/package.json", "utf8"));
for (const entry of Object.keys(manifest.exports)) {
  const specifier = `threadmark${entry.slice(1)}`;
  const module = await import(specifier, entry.endsWith(".json") ? { with: { type: "json" } } : undefined);
  assert.ok(Object.keys(module).length > 0, `${specifier} exports nothing`);
}

// A CommonJS program gets the same modules: no entry point has a top-level await.
const require = createRequire(import.meta.url);
for (const entry of Object.keys(manifest.exports).filter((name) => !name.endsWith(".json"))) {
  assert.ok(Object.keys(require(`threadmark${entry.slice(1)}`)).length > 0, `require of ${entry} gives nothing`);
}
assert.equal(require("threadmark").open, (await import("threadmark")).open);

const { open } = await import("threadmark");
const state = { messages: ["hello"], at: new Date(0), tags: new Set(["a"]), total: 10n };

for (const url of ["memory:", "sqlite:smoke.db", "file:./smoke"]) {
  const durable = url !== "memory:";
  let store = await open(url);
  const first = await store.thread("user-42").put({ state, step: 1, node: "plan", next: ["act"] });
  await store.thread("user-42").put({ update: { append: { messages: ["world"] } }, step: 2 });
  if (durable) {
    await store.close();
    store = await open(url);
  }
  const thread = store.thread("user-42");
  assert.deepEqual((await thread.latest())?.state, { ...state, messages: ["hello", "world"] }, url);
  assert.deepEqual((await thread.get(first.id))?.state, state, url);
  const fork = await thread.fork({ at: first.id, edits: { total: 99n } });
  assert.deepEqual((await fork.latest())?.state, { ...state, total: 99n }, url);
  assert.equal((await thread.latest())?.step, 2, "a fork leaves its source alone");
  assert.deepEqual(await store.verify(), { ok: true, faults: [] }, url);
  await store.close();
  console.log(`${url} put, read, forked and verified under Node ${process.version}`);
}

const listed = execFileSync("node_modules/.bin/threadmark", [
  "threads",
  "--url",
  "sqlite:smoke.db",
  "--json",
]).toString();
assert.match(listed, /user-42/);

const story = execFileSync("node_modules/.bin/threadmark", ["demo", "--no-serve", "--pace", "10"]).toString();
assert.match(story, /threadmark history tides sqlite:threadmark-demo\/agent\.db/);
assert.match(story, /not run again: plan, read moon, read sun/);
console.log("threadmark demo tells its story");
