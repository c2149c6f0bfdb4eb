import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { open } from "../../../src/api/open.ts";
import { directory } from "../../../src/large-values/index.ts";
import { exact } from "../../../src/testing/index.ts";
import type { BackendUnderTest, Place } from "../../support/places.ts";
import { makeFolder, removeFolder } from "../../support/temporary-folder.ts";

const roundsPerPlace = 10;
const script = new URL("./values-writer.ts", import.meta.url).pathname;

/**
 * Kills processes that write and collect the same large values, and checks after each that no record refers to a value
 * that is gone. Where processes may write at once, two do. Returns how many were killed.
 */
export async function keepsReferredValues(backend: BackendUnderTest, kills: number, outside: boolean): Promise<number> {
  let done = 0;
  while (done < kills) {
    const place = await backend.make();
    const folder = outside ? makeFolder() : "";
    await withStore(place, folder, (store) => store.thread("root").put({ state: { kept: "kept ".repeat(400) } }));
    for (let round = 0; round < roundsPerPlace && done < kills; round++) {
      const names = backend.capabilities.processes ? ["a", "b"] : ["a"];
      await Promise.all(names.map((name) => killedWriter(place, name, folder)));
      done += names.length;
      await withStore(place, folder, check);
    }
    await withStore(place, folder, async (store) => {
      await store.compact();
      await check(store);
    });
    await place.cleanup();
    if (outside) removeFolder(folder);
  }
  return done;
}

type ValueStore = Awaited<ReturnType<typeof openPlace>>;

function openPlace(place: Place, folder: string) {
  const largeValues = { from: 1_000, ...(folder !== "" && { driver: directory(folder) }) };
  return open<Record<string, unknown>>(place.url, { ...place.options, packRows: 8, largeValues });
}

async function withStore(place: Place, folder: string, use: (store: ValueStore) => Promise<unknown>): Promise<void> {
  const store = await openPlace(place, folder);
  try {
    await use(store);
  } finally {
    await store.close();
  }
}

async function check(store: ValueStore): Promise<void> {
  const { faults } = await store.verify();
  exact(
    faults.filter(({ checkpoint, message }) => checkpoint !== null || !/cut short by a crash/.test(message)),
    [],
    "what verify finds after a kill",
  );
  for await (const { id } of store.threads()) assert.ok(await store.thread(id).latest(), `${id} does not read`);
}

async function killedWriter(place: Place, name: string, folder: string): Promise<void> {
  const child = spawn(process.execPath, [
    script,
    place.url as string,
    JSON.stringify(place.options ?? {}),
    name,
    folder,
  ]);
  const fatal = Math.floor(Math.random() ** 2 * 150);
  let lines = 0;
  let errors = "";
  let killed = false;
  child.stderr.on("data", (data: Buffer) => {
    errors += data.toString();
  });
  child.stdout.on("data", (data: Buffer) => {
    lines += data.toString().split("\n").length - 1;
    if (killed || lines <= fatal) return;
    killed = true;
    void wait(Math.random() * 6).then(() => child.kill("SIGKILL"));
  });
  const signal = await new Promise<string | null>((resolve) => child.on("close", (_, by) => resolve(by)));
  assert.equal(signal, "SIGKILL", `the writer ended by itself: ${errors}`);
}
