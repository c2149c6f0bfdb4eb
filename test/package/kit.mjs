// Runs the conformance kit in a project that has the packed package, under any runtime with Node's modules (Node, Bun, Deno).
// The arguments name places: memory, file, sqlite (the driver that is found), sqlite:libsql, sqlite:better-sqlite3, sqlite:bun.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "threadmark";
import { betterDriver, bunDriver, libsqlDriver, sqlite } from "threadmark/sqlite";
import { cases, missing, runCase, sharedMemory } from "threadmark/testing";

/** Imports a driver that this runtime or project may lack. */
const load = (name) => import(name);
const drivers = {
  "sqlite:libsql": async () => libsqlDriver((await load("libsql")).default),
  "sqlite:better-sqlite3": async () => betterDriver((await load("better-sqlite3")).default),
  "sqlite:bun": async () => bunDriver((await load("bun:sqlite")).Database),
};

/** Returns the capabilities of a place, and a function that opens it in a folder. No power is cut here: no sync is needed. */
async function placeOf(name) {
  if (name === "memory") {
    const place = sharedMemory();
    return { capabilities: place.capabilities, openIn: (_folder, options) => open(place, options) };
  }
  if (name === "file") {
    const capabilities = { durable: true, processes: false };
    return { capabilities, openIn: (folder, options) => open(`file:${folder}/store`, { fsync: "normal", ...options }) };
  }
  const capabilities = { durable: true, processes: true };
  const driver = await drivers[name]?.();
  const openIn = async (folder, { readOnly, ...options }) =>
    open(
      await sqlite(`${folder}/store.db`, { fsync: "normal", ...(readOnly && { readOnly }), ...(driver && { driver }) }),
      options,
    );
  return { capabilities, openIn };
}

let failed = 0;
for (const name of process.argv.slice(2)) {
  const started = performance.now();
  let passed = 0;
  for (const testCase of cases) {
    const { capabilities, openIn } = await placeOf(name);
    if (missing(testCase, capabilities).length > 0) continue;
    const folder = mkdtempSync(join(tmpdir(), "threadmark-kit-"));
    const cleanup = async () => rmSync(folder, { recursive: true, force: true });
    try {
      await runCase(testCase, capabilities, { open: (options) => openIn(folder, options), cleanup });
      passed += 1;
    } catch (error) {
      failed += 1;
      console.error(`${name}: ${testCase.name}\n`, error);
    }
  }
  if (passed < 200) throw new Error(`${name}: only ${passed} of ${cases.length} cases passed`);
  console.log(`the kit's ${passed} cases hold on ${name}, ${Math.round((performance.now() - started) / 1000)} s`);
}
process.exit(failed === 0 ? 0 : 1);
