import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import type { Holder } from "../disk/file-system.ts";

let self: Promise<Holder> | undefined;

/** Returns the identity of this process, by which others see whether it still runs. */
export function thisProcess(): Promise<Holder> {
  self ??= describe();
  return self;
}

async function describe(): Promise<Holder> {
  const [boot, pidSpace, stat] = await Promise.all([
    orEmpty(readFile("/proc/sys/kernel/random/boot_id", "utf8")),
    orEmpty(readlink("/proc/self/ns/pid")),
    statOf(process.pid),
  ]);
  return { host: hostname(), boot: boot.trim(), pidSpace, pid: process.pid, started: stat?.started ?? "" };
}

/**
 * Returns whether the process of a lock may still run. It is certainly dead when the same machine was restarted since,
 * when its pid is free, or when its pid belongs to a process with another start. A process on another machine or in
 * another container cannot be observed from here and counts as alive.
 */
export async function mayRun(holder: Holder): Promise<boolean> {
  const here = await thisProcess();
  const sameBoot = holder.boot === here.boot;
  if (holder.host !== here.host && (!sameBoot || here.boot === "")) return true;
  if (!sameBoot) return false;
  if (holder.pidSpace !== here.pidSpace) return true;
  const state = await statOf(holder.pid);
  // Without /proc, or where /proc hides other users' processes, a reused pid looks like the process that had it.
  if (state === undefined) return answersSignals(holder.pid);
  return state.runs && state.started === holder.started;
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/**
 * Returns a process's start in clock ticks since the machine's start; undefined when the process cannot be observed.
 */
async function statOf(pid: number): Promise<{ readonly started: string; readonly runs: boolean } | undefined> {
  const stat = await orEmpty(readFile(`/proc/${pid}/stat`, "utf8"));
  // The second field is the program's name in parentheses, which may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state] = fields;
  const started = fields[19];
  // A zombie has ended and only waits for its parent.
  return started === undefined ? undefined : { started, runs: state !== "Z" && state !== "X" };
}

async function orEmpty(text: Promise<string>): Promise<string> {
  try {
    return await text;
  } catch {
    return "";
  }
}
