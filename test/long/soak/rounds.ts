import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { open } from "../../../src/api/open.ts";
import type { BackendUnderTest, Place } from "../../support/places.ts";
import { check } from "./check.ts";
import { Ledger } from "./ledger.ts";
import type { State } from "./state.ts";
import type { Line } from "./told.ts";

const script = new URL("./worker.ts", import.meta.url).pathname;
const shared = ["one", "two", "three", "four"];
/** Processes at once, where several may write. */
const processes = 3;
const roundMilliseconds = 15_000;
/** Rounds at one place before the next: reading all of it after every round would grow without bound. */
const roundsPerPlace = 4;

/** How often what happened. Operations are counted by kind as they begin, and failures as "kind: CODE". */
export type Tally = ReadonlyMap<string, number>;

/** Lets workers do what they like and kills them at random, round by round, and checks after each what they were promised. */
export async function soak(
  backend: BackendUnderTest,
  milliseconds: number,
  report: (tally: Tally) => void,
): Promise<Tally> {
  const until = Date.now() + milliseconds;
  const counts = new Map<string, number>();
  const add = (what: string, count: number): void => void counts.set(what, (counts.get(what) ?? 0) + count);
  while (Date.now() < until) {
    const place = await backend.make();
    const ledger = new Ledger();
    for (let round = 0; round < roundsPerPlace && Date.now() < until; round += 1) {
      const end = Math.min(until, Date.now() + roundMilliseconds);
      const slots = backend.capabilities.processes ? processes : 1;
      const kills = await Promise.all(
        Array.from({ length: slots }, (_, slot) => oneAfterTheOther(place, ledger, `w${round}${"xyz"[slot]}`, end)),
      );
      for (const killed of kills) add("kills", killed);
      const [surprise] = ledger.surprises;
      if (surprise !== undefined) throw new Error(`${ledger.surprises.length} failures, the first: ${surprise}`);
      const found = await checked(place, ledger);
      add("rounds", 1);
      add("checkpoints read back", found.checkpoints);
      add("writes read back", found.writes);
    }
    for (const [what, count] of ledger.counts) add(what, count);
    add("places", 1);
    await place.cleanup();
    report(counts);
  }
  return counts;
}

async function checked(place: Place, ledger: Ledger): ReturnType<typeof check> {
  const store = await open<State>(place.url, place.options);
  try {
    return await check(store, ledger);
  } finally {
    await store.close();
  }
}

/** Starts a worker, kills it, starts the next, until the round is over; gives how many were killed. */
async function oneAfterTheOther(place: Place, ledger: Ledger, name: string, end: number): Promise<number> {
  let kills = 0;
  while (Date.now() < end) {
    await killedWorker(place, ledger, `${name}${kills}`, end);
    kills += 1;
  }
  return kills;
}

async function killedWorker(place: Place, ledger: Ledger, name: string, end: number): Promise<void> {
  const options = JSON.stringify(place.options ?? {});
  const child = spawn(process.execPath, [script, place.url as string, options, name, shared.join(",")]);
  let errors = "";
  child.stderr.on("data", (data: Buffer) => {
    errors += data.toString();
  });
  const lifetime = Math.random() ** 2 * 8_000;
  const kill = async (): Promise<void> => {
    await wait(Math.max(0, Math.min(lifetime, end - Date.now())));
    child.kill("SIGKILL");
  };
  const closed = once(child, "close");
  let last = "";
  for await (const line of createInterface({ input: child.stdout })) {
    // Held back by one: the last line may have been cut off by the kill.
    if (last !== "") take(last);
    last = line;
  }
  if (isWhole(last)) take(last);
  const [, signal] = (await closed) as [number | null, string | null];
  if (signal !== "SIGKILL") throw new Error(`Worker ${name} ended by itself: ${errors}`);

  function take(text: string): void {
    const line = JSON.parse(text) as Line;
    if ("ready" in line) void kill();
    else ledger.note(name, line);
  }
}

function isWhole(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
