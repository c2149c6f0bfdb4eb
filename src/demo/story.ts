import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { open } from "../api/open.ts";
import type { Store } from "../api/store.ts";
import { ThreadmarkError } from "../errors.ts";
import { type Research, researchAgent, type Verdict } from "./agent.ts";
import { runWorker } from "./processes.ts";

export interface StoryOptions {
  /** The folder of the store and the list of calls; made if it is missing. */
  readonly directory: string;
  /** How long a call of the scripted model takes, in milliseconds. */
  readonly pace: number;
  /** Prints a line of the story: a scene, or a fact about it. */
  readonly say: (line: string, kind: "scene" | "fact") => void;
  /** Ends the story between two scenes. */
  readonly signal: AbortSignal;
}

/** The store and files that the story leaves behind. */
export interface StoryOutcome {
  readonly url: string;
  readonly calls: string;
  readonly threads: readonly [original: string, fork: string, waiting: string];
}

const READINGS_BEFORE_THE_KILL = 2;

/** Starts, kills, resumes, questions, answers and forks an agent, each as in real use. */
export async function tellStory({ directory, pace, say, signal }: StoryOptions): Promise<StoryOutcome> {
  const scene = (line: string): void => {
    signal.throwIfAborted();
    say(line, "scene");
  };
  const fact = (name: string, text: string): void => say(`   ${`${name}:`.padEnd(15)}${text}`, "fact");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const calls = join(directory, "calls.log");
  const { url, store } = await openStore(directory);
  try {
    const original = await freeId(store, "tides");
    const fork = `${original}-edited`;
    const waiting = `${original}-waiting`;
    const linesBefore = callsIn(calls).length;
    const made = (): string[] => callsIn(calls).slice(linesBefore);

    scene(`A research agent (its model is a script), thread "${original}".`);
    const kept = await killed(original);
    await resumed(original, kept);
    await answered(original);
    await forked(original, fork);
    await leftWaiting(original, waiting);
    return { url, calls, threads: [original, fork, waiting] };

    async function killed(thread: string): Promise<readonly string[]> {
      scene("1  A process starts the run: it plans, then reads four topics.");
      let readings = 0;
      let killing: Promise<void> | undefined;
      const parameters = [url, calls, thread, String(pace), String(READINGS_BEFORE_THE_KILL)];
      await runWorker(parameters, (line, child) => {
        if (line === "done read") readings += 1;
        if (line === "task read" && readings === READINGS_BEFORE_THE_KILL) killing ??= killWhenKept(thread, child);
      });
      await killing;
      signal.throwIfAborted();
      const kept = await savedSteps(store, thread);
      fact("killed", `with SIGKILL, after ${kept.at(-1)}`);
      fact("kept", `${kept.join(", ")}; in ${await store.thread(thread).count()} checkpoints`);
      return kept;
    }

    /**
     * Kills the process once its finished readings are in the store: unsaved readings would be repeated, and the story
     * is about those that are not.
     */
    async function killWhenKept(thread: string, child: ChildProcess): Promise<void> {
      const isKept = (call: string): boolean => call.startsWith("read ");
      const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
      while ((await savedSteps(store, thread)).filter(isKept).length < READINGS_BEFORE_THE_KILL) {
        if (hasEnded()) return;
        await wait(10);
      }
      child.kill("SIGKILL");
    }

    async function resumed(thread: string, kept: readonly string[]): Promise<void> {
      scene("2  A second process goes on with it.");
      const before = made().length;
      await runWorker([url, calls, thread, String(pace)]);
      const ran = made().slice(before);
      fact("not run again", kept.filter((call) => !ran.includes(call)).join(", "));
      fact("run now", ran.join(", "));
    }

    async function answered(thread: string): Promise<void> {
      const head = await store.thread(thread).latest();
      const question = (head?.interrupts[0]?.value as { question?: string } | undefined)?.question;
      scene(`3  It asks: "${question}" Its process has ended; the thread waits.`);
      const value: Verdict = { approve: true, by: "Ann" };
      const before = made().length;
      await agent().resume({ thread, value });
      fact("answered", `yes, by ${value.by}`);
      fact("run now", made().slice(before).join(", "));
    }

    async function forked(thread: string, into: string): Promise<void> {
      scene('4  "And if it had read of the earth?" A fork of step 0, with another plan.');
      const before = made().length;
      await store.thread(thread).fork({ at: { step: 0 }, into, edits: { plan: ["moon", "earth"] } });
      await agent().resume({ thread: into });
      const value: Verdict = { approve: true, by: "Ben" };
      const { state } = await agent().resume({ thread: into, value });
      const head = await store.thread(thread).latest();
      fact("run now", made().slice(before).join(", "));
      fact("new plan", `${state.plan.join(", ")} in "${into}"`);
      fact("not changed", `${head?.state.plan.join(", ")} in "${thread}"`);
    }

    /** Leaves another thread at its question, to be answered in the inspector. */
    async function leftWaiting(thread: string, into: string): Promise<void> {
      const draft = await checkpointBefore(store, thread, "review");
      await store.thread(thread).fork({ at: draft, into, edits: {} });
      await agent().resume({ thread: into });
      scene(`5  "${into}", a fork of the draft, waits for an answer.`);
    }

    function agent(): ReturnType<typeof researchAgent> {
      return researchAgent({ store: store as Store, calls, pace });
    }
  } finally {
    await store.close();
  }
}

/** Opens SQLite; or files, on an old Node without a driver. */
async function openStore(directory: string): Promise<{ url: string; store: Store<Research> }> {
  const place = relative(process.cwd(), directory);
  const base = place === "" ? "." : place.startsWith("..") ? directory : place;
  const url = `sqlite:${join(base, "agent.db")}`;
  try {
    const store = await open<Research>(url);
    for await (const _ of store.threads({ limit: 1 })) break;
    return { url, store };
  } catch (error) {
    if (!(error instanceof ThreadmarkError) || error.code !== "UNSUPPORTED") throw error;
    const files = `file:${join(base, "agent")}`;
    return { url: files, store: await open<Research>(files) };
  }
}

/** Returns an unused id. Threads of earlier tellings stay, so the id takes the next number. */
async function freeId(store: Store<Research>, name: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? name : `${name}-${number}`;
    if ((await store.thread(id).latest()) === undefined) return id;
  }
}

function callsIn(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
}

/** Returns what a thread has saved: finished nodes, and finished tasks of the interrupted step. */
async function savedSteps(store: Store<Research>, id: string): Promise<string[]> {
  const tuple = await store.thread(id).tuple();
  if (tuple === undefined) return [];
  const { checkpoint, writes } = tuple;
  const ended = new Set(writes.filter(({ index }) => index === 0).map(({ task }) => task));
  const tasks = checkpoint.next.filter(({ task }) => task !== undefined && ended.has(task));
  return [...checkpoint.path, ...tasks.map(({ node, arg }) => `${node} ${String(arg)}`)];
}

async function checkpointBefore(store: Store<Research>, id: string, node: string): Promise<string> {
  for await (const checkpoint of store.thread(id).history({ states: true })) {
    if (checkpoint.next.some((activation) => activation.node === node) && checkpoint.interrupts.length === 0) {
      return checkpoint.id;
    }
  }
  throw new Error(`No checkpoint of ${id} leads to ${node}.`);
}
