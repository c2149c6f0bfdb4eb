import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import type { Holder } from "../disk/file-system.ts";

let self: Promise<Holder> | undefined;

/** This process, as others can tell whether it still runs. */
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
 * Whether the process that a lock names may still run. It is dead for certain when the same machine has started again
 * since, when its pid is free, or when its pid belongs to a process that started at another time. What happened on another
 * machine, or inside another container, cannot be seen from here: such a holder counts as alive.
 */
export async function mayRun(holder: Holder): Promise<boolean> {
  const here = await thisProcess();
  const sameBoot = holder.boot === here.boot;
  if (holder.host !== here.host && (!sameBoot || here.boot === "")) return true;
  if (!sameBoot) return false;
  if (holder.pidSpace !== here.pidSpace) return true;
  const state = await statOf(holder.pid);
  // Without /proc a reused pid cannot be told from the process that had it; nor where /proc hides others' processes.
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

/** When a process started, in clock ticks since the machine did; undefined when nothing can be seen of it. */
async function statOf(pid: number): Promise<{ readonly started: string; readonly runs: boolean } | undefined> {
  const stat = await orEmpty(readFile(`/proc/${pid}/stat`, "utf8"));
  // The second field is the program's name in parentheses, which may hold spaces and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state] = fields;
  const started = fields[19];
  // A zombie has ended: it only waits for its parent to notice.
  return started === undefined ? undefined : { started, runs: state !== "Z" && state !== "X" };
}

async function orEmpty(text: Promise<string>): Promise<string> {
  try {
    return await text;
  } catch {
    return "";
  }
}
