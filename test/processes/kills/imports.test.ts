import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Store } from "../../../src/api/store.ts";
import { wholeHistory } from "../../../src/testing/support/snapshot.ts";
import { collect } from "../../support/collect.ts";
import { folderOfTest } from "../../support/folders-of-tests.ts";
import { fileUnderTest, type Place, sqliteUnderTest } from "../../support/places.ts";
import { textOf } from "../../support/texts.ts";

type State = { readonly n: number; readonly texts: readonly string[] };

const importer = fileURLToPath(new URL("./importer.ts", import.meta.url));
const threads = ["a", "b", "c", "d"];
const steps = 30;

/** Returns the lines of a bundle with four threads of thirty checkpoints and some writes each. */
async function makeBundle(): Promise<{ readonly lines: readonly string[]; readonly contents: Map<string, unknown> }> {
  await using store = await open<State>("memory:");
  for (const id of threads) {
    const thread = store.thread(id);
    await thread.put({ id: `${id}0`, state: { n: 0, texts: [] } });
    for (let n = 1; n < steps; n += 1) {
      const { id: made } = await thread.put({ update: { set: { n }, append: { texts: [textOf(n, 2_000)] } } });
      if (n % 7 === 0) await thread.putWrites(made, { task: "t", writes: [{ channel: "c", value: n }] });
    }
  }
  return { lines: (await collect(store.export())).join("").trimEnd().split("\n"), contents: await contentsOf(store) };
}

/** Returns, by thread, all checkpoints with their states and writes. */
async function contentsOf(store: Store<State>): Promise<Map<string, unknown>> {
  const contents = new Map<string, unknown>();
  for (const { id } of await collect(store.threads())) {
    const thread = store.thread(id);
    const history = await wholeHistory(thread);
    const checkpoints = history.map(({ id: checkpoint, parent, state }) => ({ checkpoint, parent, state }));
    contents.set(id, { checkpoints, writes: await thread.writesOf(history) });
  }
  return contents;
}

/** Starts an import in a process of its own and kills it when line `fatal` is given; returns the last line it has told. */
async function killedImport(place: Place, bundle: string, fatal: number): Promise<number> {
  const child = spawn(process.execPath, [importer, String(place.url), JSON.stringify(place.options ?? {}), bundle], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<string | null>((resolve) => child.once("exit", (_, signal) => resolve(signal)));
  let last = -1;
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line);
    if (last >= fatal) child.kill("SIGKILL");
  }
  expect(await ended, "the importer was killed").toBe("SIGKILL");
  return last;
}

test.each([sqliteUnderTest, fileUnderTest])(
  "on $name, imports that are killed leave whole threads only, and can be run again",
  async (backend) => {
    const { lines, contents } = await makeBundle();
    const bundle = join(folderOfTest(), "bundle");
    writeFileSync(bundle, `${lines.join("\n")}\n`);
    const ends = lines.flatMap((line, index) => (JSON.parse(line).record.kind === "end" ? [index] : []));
    expect(ends.length).toBe(threads.length);
    // The commit of a thread follows its last line; the other kills come while lines are read.
    for (const fatal of [ends[0], ends[1], ends[2], (ends[1] ?? 0) + steps / 2].map(Number)) {
      const place = await backend.make();
      const last = await killedImport(place, bundle, fatal);
      const store = await open<State>(place.url, place.options);
      const faults = (await store.verify()).faults.filter(({ message }) => !/cut short by a crash/.test(message));
      expect(faults, `verify after a kill at line ${fatal}`).toEqual([]);
      const left = await contentsOf(store);
      for (const [id, content] of left) expect(content, `thread ${id}`).toEqual(contents.get(id));
      // The import asks for the next line once the thread before it is committed.
      const committed = ends.filter((end) => end < last).length;
      expect(left.size).toBeGreaterThanOrEqual(committed);
      const again = await store.import(lines.map((line) => `${line}\n`));
      expect([again.imported, again.unchanged]).toEqual([threads.length - left.size, left.size]);
      expect(await contentsOf(store)).toEqual(contents);
      await store.close();
      await place.cleanup();
    }
  },
);
