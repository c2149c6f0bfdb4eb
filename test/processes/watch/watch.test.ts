import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { fileUnderTest, postgresUnderTest, sqliteUnderTest } from "../../support/places.ts";
import { committed, ended, KilledWatcher, start } from "./told-changes.ts";

const backends = [
  { ...sqliteUnderTest, writers: 2, count: 150 },
  { ...fileUnderTest, writers: 1, count: 120 },
  { ...postgresUnderTest, writers: 2, count: 60 },
];

describe.each(backends)("a watch on $name", (backend) => {
  test(`a watch on ${backend.name} tells every change once and in order, whatever writers and watchers are killed`, async () => {
    const place = await backend.make();
    const watcher = new KilledWatcher(place);
    await watcher.start();
    const threads = Array.from({ length: backend.writers }, (_, writer) => [`a${writer}`, `b${writer}`]);
    const writing = Promise.all(
      threads.map(async (names) => {
        for (let kills = 0; ; kills += 1) {
          const child = start("writer", place, String(backend.count), "2", ...names);
          const end = ended(child);
          if (kills < 3) {
            await wait(400 + Math.random() * 700);
            child.kill("SIGKILL");
          }
          if ((await end) === 0) return;
        }
      }),
    );
    let done = false;
    void writing.then(() => {
      done = true;
    });
    while (!done) {
      await wait(300 + Math.random() * 700);
      await watcher.kill();
      await watcher.start();
    }
    await writing;
    const expected = new Map<string, readonly string[]>();
    for (const name of threads.flat()) expected.set(name, await committed(place, name));
    const total = [...expected.values()].reduce((sum, list) => sum + list.length, 0);
    for (const end = Date.now() + 20_000; watcher.changes.length < total && Date.now() < end; ) await wait(50);
    await watcher.kill();
    // How often depends on how fast the writers are.
    expect(watcher.kills).toBeGreaterThan(0);
    for (const [name, list] of expected) {
      const told = watcher.changes.filter(({ thread }) => thread === name).map(({ kind, id }) => `${kind} ${id}`);
      // A writer that was killed may not have labelled its last checkpoint: then no line says so.
      expect(told.filter((one) => !one.startsWith("label"))).toEqual(list.filter((one) => !one.startsWith("label")));
      for (const one of told) expect(list).toContain(one);
      expect(new Set(told).size).toBe(told.length);
    }
    await place.cleanup();
  }, 300_000);
});
