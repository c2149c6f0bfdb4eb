/**
 * Run by the soak as a process of its own, to be killed: several loops do what threads can do, at random, on threads that
 * all workers share and on forks of their own, and tell what they begin and what was acknowledged.
 */
import { writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { open } from "../../../src/api/open.ts";
import { ThreadmarkError } from "../../../src/errors.ts";
import { Activity } from "./activity.ts";
import type { State } from "./state.ts";
import { type Line, now, type Operation } from "./told.ts";

const loops = 3;
const [url = "", options = "{}", name = "", threads = ""] = process.argv.slice(2);
const store = await open<State>(url, JSON.parse(options));
let count = 0;

function tell(line: Line): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

/** Does an operation and tells of it; undefined if it was refused, as happens where several want the same. */
async function doing<T>(operation: Operation, action: () => Promise<T>): Promise<T | undefined> {
  const number = count++;
  tell({ begin: number, at: now(), operation });
  try {
    const result = await action();
    tell({ end: number, at: now() });
    return result;
  } catch (error) {
    const { message } = error as Error;
    const unknown = error instanceof ThreadmarkError && error.committed === "unknown";
    const code = !(error instanceof ThreadmarkError) ? String(error) : unknown ? "UNKNOWN" : error.code;
    tell({ end: number, at: now(), code, message });
    return undefined;
  }
}

// Usually kept at the end of a process, which this one will not see.
flushCompileCache();
tell({ ready: true });
await Promise.all(
  Array.from({ length: loops }, async (_, loop) => {
    const activity = new Activity(store, `${name}${"abc"[loop]}`, threads.split(","), doing);
    for (;;) await activity.next();
  }),
);
