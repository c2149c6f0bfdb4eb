import { afterEach, describe, expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Store } from "../../../src/api/store.ts";
import type { Thread } from "../../../src/api/thread.ts";
import type { Backend } from "../../../src/backend.ts";
import { memory } from "../../../src/backends/memory/index.ts";
import { backendOf } from "../../support/backend-of.ts";
import { idsOf } from "../../support/collect.ts";
import { type BackendUnderTest, locations, type Place } from "../../support/places.ts";
import { linesOf } from "../bundles/exported.ts";
import { meanwhile } from "./meanwhile.ts";

type State = { readonly n: number };

const still = async (): Promise<void> => {};
const day = 24 * 3_600_000;

const places: { readonly place: Place; readonly backend: Backend }[] = [];

afterEach(async () => {
  for (const { place, backend } of places.splice(0)) {
    if (typeof place.url === "string") await backend.close();
    await place.cleanup();
  }
});

async function sharedBackend(location: BackendUnderTest): Promise<Backend> {
  const place = await location.make();
  const backend = await backendOf(place);
  places.push({ place, backend });
  return backend;
}

async function tasksOf(thread: Thread<State>, checkpoint: string): Promise<string[]> {
  return (await thread.writes(checkpoint)).map(({ task }) => task);
}

function putWrite(thread: Thread<State>, checkpoint: string, task: string): Promise<unknown> {
  return thread.putWrites(checkpoint, { task, writes: [{ channel: "c", value: task }] });
}

/** Lets `act` happen once, before the given call of the backend; reads and commits are counted together. */
function onceBefore(backend: Backend, call: number, act: () => Promise<unknown>): { view: Backend; acted(): boolean } {
  let calls = 0;
  let acted = false;
  const step = async (): Promise<void> => {
    if (calls++ !== call) return;
    acted = true;
    await act();
  };
  return { view: meanwhile(backend, step, step), acted: () => acted };
}

/** A thread with a fork, writes on both, and something for a compaction to remove. */
async function fill(store: Store<State>): Promise<readonly [Thread<State>, Thread<State>]> {
  const thread = store.thread("t");
  for (let n = 1; n <= 4; n += 1) await thread.put({ id: `c${n}`, state: { n } });
  await putWrite(thread, "c2", "first");
  await putWrite(thread, "c4", "first");
  const fork = await thread.fork({ into: "fork" });
  await fork.put({ id: "own", state: { n: 5 } });
  await putWrite(fork, "own", "first");
  for (const side of [thread, fork]) await side.deleteCheckpoints(["c1", "c3"]);
  return [thread, fork];
}

describe.each(locations)("a store on $name", (location) => {
  test("a store keeps a write that is acknowledged while a compaction runs, whenever it arrives", async () => {
    for (let call = 0, acted = true; acted; call += 1) {
      const backend = await sharedBackend(location);
      const other = await open<State>(meanwhile(backend, still));
      const [thread, fork] = await fill(other);
      const late = async (): Promise<void> => {
        for (const [side, checkpoint] of [
          [thread, "c2"],
          [fork, "c4"],
          [fork, "own"],
        ] as const)
          await putWrite(side, checkpoint, "late");
      };
      const { view, acted: hasActed } = onceBefore(backend, call, late);
      await (await open<State>(view)).compact();
      acted = hasActed();
      const tasks = [await tasksOf(thread, "c2"), await tasksOf(fork, "c4"), await tasksOf(fork, "own")];
      const expected = acted ? ["first", "late"] : ["first"];
      expect(tasks, `written before call ${call}`).toEqual([expected, expected, expected]);
      expect(await tasksOf(thread, "c4")).toEqual(["first"]);
    }
  });

  test("a store keeps every write that two stores put while one of them compacts again and again", async () => {
    const backend = await sharedBackend(location);
    const stores = [
      await open<State>(meanwhile(backend, still)),
      await open<State>(meanwhile(backend, still)),
    ] as const;
    await stores[0].thread("t").put({ id: "c", state: { n: 0 } });
    let writing = true;
    const compacting = (async (): Promise<void> => {
      while (writing) await stores[0].compact();
    })();
    const tasks: string[] = [];
    for (let n = 0; n < 60; n += 1) {
      const task = `task ${String(n).padStart(2, "0")}`;
      await putWrite((stores[n % 2] as Store<State>).thread("t"), "c", task);
      tasks.push(task);
    }
    writing = false;
    await compacting;
    expect(await tasksOf(stores[1].thread("t"), "c")).toEqual(tasks);
  });
});

test("writes that waited a day for their checkpoint are kept if it comes while a compaction would drop them", async () => {
  for (let call = 0, acted = true; acted; call += 1) {
    const backend = memory();
    let now = 0;
    const clock = (): number => now;
    const thread = (await open<State>(meanwhile(backend, still), { clock })).thread("t");
    await thread.put({ id: "c", state: { n: 1 } });
    await putWrite(thread, "soon", "early");
    now = 2 * day;
    const { view, acted: hasActed } = onceBefore(backend, call, () => thread.put({ id: "soon", state: { n: 2 } }));
    await (await open<State>(view, { clock })).compact();
    acted = hasActed();
    if (acted) expect(await tasksOf(thread, "soon"), `put before call ${call}`).toEqual(["early"]);
  }
});

test("a checkpoint that a fork puts on a replaced one reads back, whenever a compaction folds the replacement in", async () => {
  for (let call = 0, acted = true; acted; call += 1) {
    const backend = memory();
    const other = await open<{ text: string }>(meanwhile(backend, still));
    const thread = other.thread("t");
    await thread.put({ id: "c1", state: { text: "old ".repeat(60) } });
    await thread.put({ id: "c1", state: { text: "new ".repeat(60) } });
    const fork = await thread.fork({ into: "fork" });
    const text = `${"old ".repeat(60)}and more`;
    const { view, acted: hasActed } = onceBefore(backend, call, () => fork.put({ id: "own", state: { text } }));
    await (await open(view)).compact();
    acted = hasActed();
    const reader = await open<{ text: string }>(meanwhile(backend, still));
    if (acted) expect((await reader.thread("fork").get("own"))?.state.text, `put before call ${call}`).toBe(text);
    expect((await reader.thread("fork").get("c1"))?.state.text).toBe("new ".repeat(60));
    expect(await reader.verify()).toEqual({ ok: true, faults: [] });
  }
});

test("a checkpoint that another store puts while the head is deleted and read reads back, whenever it arrives", async () => {
  for (let call = 0, acted = true; acted; call += 1) {
    const backend = memory();
    const options = { packRows: 3, cacheBytes: 0 };
    const other = (await open<State>(meanwhile(backend, still), options)).thread("t");
    for (let n = 0; n <= 4; n += 1) await other.put({ id: `c${n}`, state: { n } });
    let reading: Promise<unknown> | undefined;
    const { view, acted: hasActed } = onceBefore(backend, call, async () => {
      await other.put({ id: "late", state: { n: 9 } });
      reading = thread.latest();
      await reading;
    });
    const thread = (await open<State>(view, { packRows: 3 })).thread("t");
    await thread.latest();
    expect(await thread.deleteCheckpoints(["c3", "c4"]), `put before call ${call}`).toBe(2);
    await reading;
    acted = hasActed();
    const reader = await open<State>(meanwhile(backend, still));
    if (acted) expect((await reader.thread("t").get("late"))?.state, `put before call ${call}`).toEqual({ n: 9 });
    expect(await reader.verify(), `put before call ${call}`).toEqual({ ok: true, faults: [] });
  }
});

test("an import into a thread that only has early writes keeps apart from what another store puts there meanwhile", async () => {
  const source = await open<State>("memory:");
  for (let n = 0; n < 4; n += 1) await source.thread("t").put({ id: `c${n}`, state: { n } });
  await source.thread("t").deleteCheckpoints(["c0", "c1"]);
  const bundle = await linesOf(source);
  for (let call = 0, acted = true; acted; call += 1) {
    const backend = memory();
    const other = (await open<State>(meanwhile(backend, still))).thread("t");
    await putWrite(other, "c2", "early");
    const { view, acted: hasActed } = onceBefore(backend, call, () => other.put({ id: "other", state: { n: 9 } }));
    const [outcome] = await Promise.allSettled([(await open<State>(view)).import(bundle)]);
    acted = hasActed();
    const ids = await idsOf(other.history());
    // A checkpoint that is committed after the import belongs on top of it; one that was there first makes it fail.
    const expected = !acted ? ["c3", "c2"] : outcome?.status === "fulfilled" ? ["other", "c3", "c2"] : ["other"];
    expect(ids, `put before call ${call}`).toEqual(expected);
    if (outcome?.status === "rejected") expect(outcome.reason).toMatchObject({ code: "CONFLICT" });
  }
});
