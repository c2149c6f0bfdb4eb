import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { open as openStore, Store, Thread } from "../src/index.ts";
import { median, Timings } from "./harness/timing.ts";
import { printTable } from "./output/table.ts";
import { stateToUpdate, updateKinds } from "./workloads/update-kinds.ts";
import type { State } from "./workloads/workload.ts";

/*
 * Measures what a store costs now beside other versions of the sources, in turns in one process:
 *
 *   node bench/beside.ts <commit> [<commit> …]
 *
 * The first commit is 1.
 */

const rounds = 9;
const warmRounds = 3;
const length = 1_000;
const root = join(import.meta.dirname, "..");

/** An operation, made ready for one version: each call is timed, but for what `prepare` does before it. */
interface Ready {
  readonly batch: number;
  prepare?(): void;
  run(): Promise<unknown>;
}

/** A version of the sources, and a store of its own. */
class Version {
  readonly name: string;
  readonly #open: typeof openStore;
  readonly #url: string;
  readonly #store: Store<State>;

  private constructor(name: string, open: typeof openStore, url: string, store: Store<State>) {
    this.name = name;
    this.#open = open;
    this.#url = url;
    this.#store = store;
  }

  static async load(name: string, sources: string, path: string): Promise<Version> {
    const { open } = (await import(pathToFileURL(join(sources, "src/index.ts")).href)) as { open: typeof openStore };
    const url = `sqlite:${path}`;
    return new Version(name, open, url, await open<State>(url, { fsync: "normal" }));
  }

  async operations(): Promise<ReadonlyMap<string, Ready>> {
    const ready = new Map<string, Ready>();
    for (const { name, update } of updateKinds) {
      if (name.includes("patch") || name.includes("mix")) continue;
      const thread = await this.#thread(name);
      let index = length;
      let next: object = {};
      const prepare = (): void => {
        index += 1;
        next = update(index, length);
      };
      ready.set(name, { batch: 64, prepare, run: () => thread.put({ update: next, node: "act", next: ["plan"] }) });
    }
    const whole = await this.#thread("whole");
    let state: { messages: unknown[] } = stateToUpdate(length) as { messages: unknown[] };
    const grow = (): void => {
      state = {
        ...state,
        messages: [...state.messages, { role: "user", content: `message ${state.messages.length}` }],
      };
    };
    ready.set("put({ state })", { batch: 16, prepare: grow, run: () => whole.put({ state }) });
    const read = await this.#thread("read");
    ready.set("history({ limit: 10 })", { batch: 64, run: () => collect(read.history({ limit: 10 })) });
    ready.set("latest()", { batch: 16, run: () => read.latest() });
    ready.set("open, close", { batch: 8, run: () => this.#opened(async () => {}) });
    ready.set("open, first latest(), close", {
      batch: 8,
      run: () => this.#opened((store) => store.thread("read").latest()),
    });
    return ready;
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /** Makes a thread with a state of this length, of which the last steps are rows by themselves. */
  async #thread(id: string): Promise<Thread<State>> {
    const thread = this.#store.thread(id);
    await thread.put({ state: stateToUpdate(length) });
    for (let step = 0; step < 40; step += 1) await thread.put({ update: { set: { turn: step } }, node: "act" });
    return thread;
  }

  async #opened(use: (store: Store<State>) => Promise<unknown>): Promise<void> {
    const store = await this.#open<State>(this.#url, { fsync: "normal" });
    await use(store);
    await store.close();
  }
}

async function collect(all: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of all) count += 1;
  return count;
}

/** Takes the operation of every version in turns. Returns the medians of each round, a list for each version. */
async function race(sides: readonly Ready[]): Promise<readonly (readonly number[])[]> {
  const found = sides.map((): number[] => []);
  for (let round = -warmRounds; round < rounds; round += 1) {
    const taken = sides.map(() => new Timings());
    for (let turn = 0; turn < 4; turn += 1) {
      for (const [index, { batch, prepare, run }] of sides.entries()) {
        for (let count = 0; count < batch; count += 1) {
          prepare?.();
          await taken[index]?.measure(run);
        }
      }
    }
    if (round >= 0) for (const [index, { p50 }] of taken.entries()) found[index]?.push(p50);
  }
  return found;
}

/** Lays out the sources of a commit in a folder of its own. */
function checkOut(commit: string, place: string): string {
  const folder = join(place, commit);
  execFileSync("git", ["worktree", "add", "--quiet", "--detach", folder, commit], { cwd: root });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
  return folder;
}

const commits = process.argv.slice(2);
if (commits.length === 0) throw new Error("Name the commits to measure beside: node bench/beside.ts <commit> …");
const place = mkdtempSync(join(tmpdir(), "threadmark-beside-"));
try {
  const folders = [...commits.map((commit) => [commit, checkOut(commit, place)] as const), ["now", root] as const];
  const versions: Version[] = [];
  for (const [name, folder] of folders) versions.push(await Version.load(name, folder, join(place, `${name}.db`)));
  const all = await Promise.all(versions.map((version) => version.operations()));
  const rows = [];
  for (const operation of all[0]?.keys() ?? []) {
    const found = await race(all.map((ready) => ready.get(operation) as Ready));
    const first = found[0] as readonly number[];
    const ratios = found.slice(1).map((times) => median(times.map((time, round) => time / (first[round] as number))));
    rows.push([operation, median(first) * 1_000, ...ratios]);
  }
  for (const version of versions) await version.close();
  printTable({
    part: "beside",
    title: `What operations cost on SQLite, fsync normal, N = ${length}, beside ${commits[0]}`,
    columns: [
      { title: "operation" },
      { title: commits[0] as string, unit: "µs" },
      ...versions.slice(1).map(({ name }) => ({ title: name, unit: "×" as const })),
    ],
    rows,
    notes: ["the median over rounds of each round's ratio of medians"],
  });
} finally {
  for (const commit of commits) {
    execFileSync("git", ["worktree", "remove", "--force", join(place, commit)], { cwd: root });
  }
  rmSync(place, { recursive: true, force: true });
}
