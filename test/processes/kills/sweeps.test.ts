import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Store } from "../../../src/api/store.ts";
import { collect } from "../../support/collect.ts";
import { fileUnderTest, type Place, sqliteUnderTest } from "../../support/places.ts";

type State = Record<string, unknown>;

const sweeper = fileURLToPath(new URL("./sweeper.ts", import.meta.url));
const day = 24 * 60 * 60 * 1000;
const start = 1_800_000_000_000;
const retention = { threads: { idle: "1d" }, checkpoints: { keepLast: 2 } } as const;
const secret = "alice@example.com";

/** Runs the sweeper and kills it so many milliseconds after it has begun. Resolves to whether it was done by then. */
async function killed(place: Place, now: number, what: "sweep" | "erase", after: number): Promise<boolean> {
  const parameters = [sweeper, String(place.url), JSON.stringify(place.options ?? {}), String(now), what];
  const child = spawn(process.execPath, parameters, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let text = "";
  for await (const chunk of child.stdout) {
    if (text === "") setTimeout(() => child.kill("SIGKILL"), after);
    text += String(chunk);
  }
  await ended;
  return text.includes("done");
}

async function reopened(place: Place, now: number): Promise<Store<State>> {
  return open<State>(place.url as string, { ...place.options, clock: () => now, retention });
}

for (const backend of [sqliteUnderTest, fileUnderTest]) {
  test(`a sweep and an erasure that are killed at any moment leave whole threads, and the next one goes on (${backend.name})`, async () => {
    const place = await backend.make();
    try {
      const first = await reopened(place, start);
      for (let n = 0; n < 40; n += 1) {
        for (let step = 0; step < 3; step += 1) await first.thread(`idle${n}`).put({ state: { n, step } });
      }
      const kept = first.thread("kept");
      for (let step = 0; step < 70; step += 1)
        await kept.put({ state: { step, secret, text: `${secret} ${step}` }, next: ["act"] });
      await kept.fork({ at: { step: 68 }, into: "fork" });
      await first.close();
      let now = start + 2 * day;
      for (const delay of [2, 8, 25]) {
        // A killed sweeper's lease runs out.
        now += 120_000;
        await killed(place, now, "sweep", delay);
        const store = await reopened(place, now);
        expect(await faultsOf(store)).toEqual([]);
        for (const { id } of await collect(store.threads())) {
          const { state } = (await store.thread(id).latest()) ?? {};
          if (id.startsWith("idle")) expect([await store.thread(id).count(), state?.["step"]]).toEqual([3, 2]);
        }
        expect((await headOfKept(store))?.["step"]).toBe(69);
        await store.close();
      }
      const store = await reopened(place, now + 120_000);
      await store.sweep();
      const left = (await collect(store.threads())).map(({ id }) => id);
      expect(left).toEqual(["fork", "kept"]);
      expect(await store.thread("kept").count()).toBe(2);
      await store.close();
      for (const delay of [0, 6]) {
        const isDone = await killed(place, now, "erase", delay);
        const looking = await reopened(place, now);
        expect(await faultsOf(looking)).toEqual([]);
        const texts = new Set<unknown>();
        for (const id of ["kept", "fork"]) {
          for await (const { state } of looking.thread(id).history({ states: true })) texts.add(state["secret"]);
        }
        expect([[secret], ["[erased]"]]).toContainEqual([...texts]);
        if (isDone) expect([...texts]).toEqual(["[erased]"]);
        await looking.close();
      }
      const last = await reopened(place, now);
      await last.thread("kept").erase(["secret"], { forks: true });
      expect((await last.thread("fork").latest())?.state["secret"]).toBe("[erased]");
      await last.close();
    } finally {
      await place.cleanup();
    }
  }, 60_000);
}

/** Returns the faults of a store, apart from a batch that the kill has cut short. */
async function faultsOf(store: Store<State>): Promise<readonly unknown[]> {
  return (await store.verify()).faults.filter(({ message }) => !/cut short by a crash/.test(message));
}

async function headOfKept(store: Store<State>): Promise<State | undefined> {
  return (await store.thread("kept").latest())?.state;
}
