import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { open } from "../../../src/api/open.ts";
import type { WatchedChange } from "../../../src/model/interface/watched-changes.ts";
import type { Place } from "../../support/places.ts";

const scripts = {
  writer: new URL("./writer.ts", import.meta.url).pathname,
  watcher: new URL("./watcher.ts", import.meta.url).pathname,
};

export function start(name: keyof typeof scripts, place: Place, ...args: readonly string[]): ChildProcess {
  assert.equal(typeof place.url, "string", "a process of its own needs a url");
  const options = JSON.stringify(place.options ?? {});
  return spawn(process.execPath, [scripts[name], place.url as string, options, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

export function ended(child: ChildProcess): Promise<NodeJS.Signals | number | null> {
  return new Promise((resolve) => child.on("close", (code, signal) => resolve(signal ?? code)));
}

export type HeardChange = WatchedChange & { readonly heard: number };

/** A watcher that is killed and started again, each time from the last cursor it has told. */
export class KilledWatcher {
  readonly changes: HeardChange[] = [];
  readonly #place: Place;
  #cursor: string | undefined;
  #child: ChildProcess | undefined;
  kills = 0;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Starts the watcher, and resolves when it watches. */
  async start(): Promise<void> {
    const child = start("watcher", this.#place, ...(this.#cursor === undefined ? [] : [this.#cursor]));
    this.#child = child;
    let rest = "";
    await new Promise<void>((resolve, reject) => {
      child.on("close", () => reject(new Error("the watcher ended by itself")));
      child.stdout?.on("data", (data: Buffer) => {
        const lines = (rest + data.toString()).split("\n");
        // A last line without its end was never finished telling.
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const change = JSON.parse(line) as HeardChange | { kind: "start"; cursor: string };
          this.#cursor = change.cursor;
          if (change.kind === "start") resolve();
          else this.changes.push(change);
        }
      });
    });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    this.#child = undefined;
    const end = ended(child);
    child.kill("SIGKILL");
    await end;
    this.kills += 1;
  }
}

/** Resolves to the ids of all checkpoints of a thread, oldest first, with those that were written to and labelled. */
export async function committed(place: Place, thread: string): Promise<readonly string[]> {
  const store = await open(place.url, place.options);
  const told: string[] = [];
  for await (const { id, step } of store.thread(thread).history()) {
    const later: string[] = [];
    if (step % 7 === 3 && (await store.thread(thread).writes(id)).length > 0) later.push(`writes ${id}`);
    if (step % 11 === 5) later.push(`label ${id}`);
    told.unshift(`put ${id}`, ...later);
  }
  await store.close();
  return told;
}
