import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { open, type Store, ThreadmarkError } from "../../../src/index.ts";
import { exact } from "../../../src/testing/index.ts";
import { wholeHistory } from "../../../src/testing/support/snapshot.ts";
import { collect } from "../../support/collect.ts";
import type { BackendUnderTest, Place } from "../../support/places.ts";
import type { BackupWork } from "./worker.ts";

type State = { readonly n: number; readonly text: string };

/** The content of each thread of a store, as one text. */
type Contents = ReadonlyMap<string, string>;

const worker = fileURLToPath(new URL("./worker.ts", import.meta.url));
const THREADS = 24;

/** Does some work in a process that is killed after it has told `fatal` threads, or by itself. Returns the lines it told. */
async function killed(place: Place, work: BackupWork, fatal: number, random: () => number): Promise<readonly string[]> {
  const parameters = [worker, String(place.url), JSON.stringify(place.options ?? {}), JSON.stringify(work)];
  const child = spawn(process.execPath, parameters, { stdio: ["ignore", "pipe", "pipe"] });
  const closed = new Promise<string | null>((resolve) => child.once("close", (_, signal) => resolve(signal)));
  let output = "";
  let errors = "";
  let isDying = false;
  child.stderr.on("data", (data: Buffer) => {
    errors += String(data);
  });
  const kill = async (): Promise<void> => {
    await wait(random() * 3);
    child.kill("SIGKILL");
  };
  child.stdout.on("data", (data: Buffer) => {
    output += String(data);
    // A process that kills itself, and comes to its end all the same, is ended here.
    const isLast = /made|restored/.test(output) || (work.dies === undefined && output.split("\n").length > fatal);
    if (isLast && !isDying) {
      isDying = true;
      void kill();
    }
  });
  assert.equal(await closed, "SIGKILL", `the worker ended by itself: ${errors}`);
  return output.split("\n").slice(0, -1);
}

async function using<T>(place: Place, use: (store: Store<State>) => Promise<T>): Promise<T> {
  const store = await open<State>(place.url, place.options ?? {});
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

async function contentsOf(store: Store<State>): Promise<Contents> {
  const contents = new Map<string, string>();
  for (const { id } of await collect(store.threads())) {
    const thread = store.thread(id);
    const history = await wholeHistory(thread);
    const shown = history.map(({ id: checkpoint, parent, label, state }) => [checkpoint, parent, label, state]);
    const writes = [...(await thread.writesOf(history)).values()];
    contents.set(id, JSON.stringify([shown, writes, await thread.attributes()]));
  }
  return contents;
}

async function fill(store: Store<State>): Promise<void> {
  for (let index = 0; index < THREADS; index += 1) {
    const thread = store.thread(`t${index}`);
    for (let n = 0; n < 3; n += 1) {
      await thread.put({ state: { n, text: `${index} `.repeat(n === 1 ? 4_000 : 30) }, attributes: { index } });
    }
    const head = await thread.latest();
    await thread.putWrites(head?.id ?? "", { task: "t", writes: [{ channel: "c", value: index }] });
  }
  await store.thread("t1").fork({ into: "fork", edits: { n: 99 } });
}

/** Changes some threads, and deletes and makes some: the nth time others. */
async function change(store: Store<State>, time: number): Promise<void> {
  for (let index = time % 3; index < THREADS; index += 3) {
    const thread = store.thread(`t${index}`);
    if (index % 8 === time % 8) await thread.delete();
    else await thread.put({ state: { n: 1000 + time, text: `changed ${time}` } });
  }
  await store.thread(`new${time}`).put({ state: { n: time, text: "new" } });
}

/** Resolves to what a chain of backups restores to in an empty store. */
async function restored(files: readonly string[]): Promise<Contents> {
  await using store = await open<State>("memory:");
  await store.restore(files);
  exact((await store.verify()).faults, [], "the faults of a restored store");
  return await contentsOf(store);
}

/** The toll of a campaign: how many processes were killed, and how many of them had come to their end. */
export interface BackupToll {
  readonly kills: number;
  readonly ended: number;
}

async function inFolder<T>(
  use: (path: (name: string) => string, names: () => readonly string[]) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "threadmark-backups-"));
  try {
    return await use(
      (name) => join(folder, name),
      () => readdirSync(folder),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const own = ["before", "during", "after"] as const;

/**
 * Kills processes that make backups, whole and incremental, at random moments and around the moment when the file gets its
 * name. A file of that name is a whole backup, a part of one is refused, and a chain goes on from the last cursor.
 */
export async function survivesBackupKills(
  backend: BackendUnderTest,
  kills: number,
  random = Math.random,
): Promise<BackupToll> {
  return inFolder(async (path, names) => {
    const place = await backend.make();
    let ended = 0;
    try {
      let truth = await using(place, async (store) => {
        await fill(store);
        return contentsOf(store);
      });
      const chain: string[] = [];
      let since: string | undefined;
      for (let time = 0; time < kills; time += 1) {
        const file = path(`${time}.bundle`);
        const moment = own[time % 4];
        const work: BackupWork = {
          backup: file,
          ...(since !== undefined && { since }),
          // Every fourth one is killed from outside.
          ...(moment && { dies: { at: "rename", moment } }),
        };
        const told = await killed(place, work, 1 + Math.floor(random() * THREADS), random);
        const cursor = told.find((line) => line.startsWith("made "))?.slice(5);
        const isNamed = names().includes(`${time}.bundle`);
        if (cursor !== undefined) ended += 1;
        assert.ok(isNamed || cursor === undefined, "a backup that was told has its name");
        if (moment === "before") assert.ok(!isNamed, "a backup has its name before it was given");
        if (moment === "after") assert.ok(isNamed, "a backup lacks the name that it was given");
        if (isNamed) exact(await restored([...chain, file]), truth, `the backup of kill ${time}`);
        for (const part of names().filter((name) => name.endsWith(".part"))) {
          await refusedOrWhole([...chain, path(part)], truth);
          rmSync(path(part));
        }
        truth = await using(place, async (store) => {
          exact(await faultsOf(store), [], "what verify finds after a kill");
          exact(await contentsOf(store), truth, "the store after a kill");
          // The next one goes on from the last cursor that is known, or begins anew.
          const next = path(`${time}-next.bundle`);
          const made = await store.backup(next, since === undefined ? {} : { since });
          chain.push(next);
          since = made.cursor;
          exact(await restored(chain), truth, `the chain after kill ${time}`);
          await change(store, time);
          return contentsOf(store);
        });
        if (time % 5 === 4) {
          since = undefined;
          chain.length = 0;
        }
      }
    } finally {
      await place.cleanup();
    }
    return { kills, ended };
  });
}

async function refusedOrWhole(files: readonly string[], truth: Contents): Promise<void> {
  try {
    exact(await restored(files), truth, "a part of a backup that is whole");
  } catch (error) {
    if (!ThreadmarkError.is(error, "CORRUPT")) throw error;
  }
}

const UNFINISHED = /restore .* has not ended/;

async function faultsOf(store: Store<State>): Promise<readonly string[]> {
  const { faults } = await store.verify();
  return faults.map(({ message }) => message).filter((message) => !/cut short by a crash/.test(message));
}

/**
 * Kills processes that restore a chain of backups, at random moments and around their commits. Each leaves whole threads of
 * some link of the chain, and a store that says that it is not whole; the next restore makes it so.
 */
export async function survivesRestoreKills(
  backend: BackendUnderTest,
  kills: number,
  random = Math.random,
): Promise<BackupToll> {
  return inFolder(async (path) => {
    const files = ["1", "2", "3"].map((name) => path(`${name}.bundle`));
    const links: Contents[] = [];
    await using source = await open<State>("memory:");
    await fill(source);
    let since: string | undefined;
    for (const [time, file] of files.entries()) {
      const { cursor } = await source.backup(file, since === undefined ? {} : { since });
      since = cursor;
      links.push(await contentsOf(source));
      await change(source, time);
    }
    const truth = links.at(-1) as Contents;
    let place = await backend.make();
    let ended = 0;
    try {
      for (let time = 0; time < kills; time += 1) {
        const moment = own[time % 4];
        const dies = moment && { at: 1 + Math.floor(random() * 2 * THREADS), moment };
        const work = { restore: files, ...(dies && { dies }) };
        const told = await killed(place, work, 1 + Math.floor(random() * THREADS * 1.5), random);
        const isDone = told.includes("restored");
        if (isDone) ended += 1;
        await using(place, async (store) => {
          const faults = await faultsOf(store);
          const left = await contentsOf(store);
          for (const [id, content] of left) {
            assert.ok(
              links.some((link) => link.get(id) === content),
              `thread ${id} is of no backup`,
            );
          }
          // Killed before its first commit, it has changed nothing; behind its last one, it is done.
          if (isDone) exact(faults, [], "the faults of a restored store");
          const isMarked = faults.length === 1 && UNFINISHED.test(faults[0] ?? "");
          if (!isMarked) {
            exact(faults, [], "what verify finds after a kill");
            assert.ok(left.size === 0 || isSame(left, truth), "a half restored store says that it is whole");
          }
          exact((await store.stats()).restoring !== undefined, isMarked, "stats and verify agree");
          // Every other time the next process goes on with what this one left.
          if (time % 2 === 0 && time < kills - 1) return;
          await store.restore(files);
          exact(await contentsOf(store), truth, `the store that was restored again after kill ${time}`);
          exact(await faultsOf(store), [], "the faults of a store that was restored again");
        });
        if (time % 2 === 1) {
          await place.cleanup();
          place = await backend.make();
        }
      }
    } finally {
      await place.cleanup();
    }
    return { kills, ended };
  });
}

function isSame(left: Contents, right: Contents): boolean {
  return left.size === right.size && [...left].every(([id, content]) => right.get(id) === content);
}
