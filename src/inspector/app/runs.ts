import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** A run that was started from the page. */
export interface RunFacts {
  readonly thread: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly state: "running" | "ended" | "failed" | "stopped";
  /** The last of what the process printed. */
  readonly output: string;
}

const MOST_OUTPUT = 64 * 1024;
const MOST_RUNS = 50;

/** The runs of an application, each in a process of its own, so that nothing it does can harm the inspector. */
export class Runs {
  readonly #file: string;
  readonly #runs = new Map<string, RunFacts>();
  readonly #processes = new Map<string, ChildProcess>();

  /** Throws a TypeError if there is no such file. */
  constructor(file: string) {
    this.#file = resolve(file);
    if (!existsSync(this.#file)) throw new TypeError(`There is no application ${JSON.stringify(file)}.`);
  }

  get file(): string {
    return this.#file;
  }

  of(thread: string): RunFacts | undefined {
    return this.#runs.get(thread);
  }

  /** Runs a thread on. Returns false if it runs already. */
  start(thread: string, workflow: string | null): boolean {
    if (this.#processes.has(thread)) return false;
    const runner = fileURLToPath(new URL(`./runner${extname(import.meta.url)}`, import.meta.url));
    // Arguments, not a shell: a thread's id may be any text.
    const child = spawn(process.execPath, [...process.execArgv, runner, this.#file, thread, workflow ?? ""], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NODE_NO_WARNINGS: "1" },
    });
    this.#processes.set(thread, child);
    this.#runs.delete(thread);
    this.#runs.set(thread, { thread, startedAt: Date.now(), endedAt: null, state: "running", output: "" });
    for (const oldest of this.#runs.keys()) {
      if (this.#runs.size <= MOST_RUNS) break;
      if (!this.#processes.has(oldest)) this.#runs.delete(oldest);
    }
    const hear = (chunk: Buffer): void => {
      this.#change(thread, ({ output }) => ({ output: (output + chunk.toString()).slice(-MOST_OUTPUT) }));
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("error", (error) => hear(Buffer.from(`${error.message}\n`)));
    child.once("close", (code, signal) => {
      this.#processes.delete(thread);
      const state = signal !== null ? "stopped" : code === 0 ? "ended" : "failed";
      this.#change(thread, () => ({ state, endedAt: Date.now() }));
    });
    return true;
  }

  /** Ends a run's process. Its thread can be run on again. */
  stop(thread: string): boolean {
    return this.#processes.get(thread)?.kill() ?? false;
  }

  /** Ends all processes. */
  close(): void {
    for (const child of this.#processes.values()) child.kill();
  }

  #change(thread: string, change: (facts: RunFacts) => Partial<RunFacts>): void {
    const facts = this.#runs.get(thread);
    if (facts !== undefined) this.#runs.set(thread, { ...facts, ...change(facts) });
  }
}
