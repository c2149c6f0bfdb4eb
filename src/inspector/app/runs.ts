import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { GraphPicture } from "../../display/steps/topology.ts";
import type { RunFacts } from "../api/answers.ts";
import type { RunOrder } from "./run-order.ts";

const MOST_OUTPUT = 64 * 1024;
/** How long an application may take to be loaded for the pictures of its graphs, in milliseconds. */
const LOADING = 30_000;
const MOST_PICTURES = 1024 * 1024;
const MOST_RUNS = 50;

/** The runs of an application, each in a process of its own, so that nothing it does can harm the inspector. */
export class Runs {
  readonly #file: string;
  readonly #runs = new Map<string, RunFacts>();
  readonly #processes = new Map<string, ChildProcess>();
  #pictures: Promise<readonly GraphPicture[]> | undefined;

  /** Throws a TypeError if there is no such file. */
  constructor(file: string) {
    this.#file = resolve(file);
    if (!existsSync(this.#file)) throw new TypeError(`There is no application ${JSON.stringify(file)}.`);
  }

  get file(): string {
    return this.#file;
  }

  /** Returns the pictures of the compiled graphs that the application exports, read once; none if it cannot be loaded. */
  pictures(): Promise<readonly GraphPicture[]> {
    this.#pictures ??= new Promise((resolve) => {
      execFile(
        process.execPath,
        [...process.execArgv, moduleBeside("describe"), this.#file],
        { timeout: LOADING, maxBuffer: MOST_PICTURES, env: { ...process.env, NODE_NO_WARNINGS: "1" } },
        (error, output) => resolve(error === null ? picturesIn(output) : []),
      );
    });
    return this.#pictures;
  }

  of(thread: string): RunFacts | undefined {
    return this.#runs.get(thread);
  }

  /** Runs a thread on. Returns false if it runs already. */
  start(order: RunOrder): boolean {
    const { thread } = order;
    if (this.#processes.has(thread)) return false;
    const child = spawn(process.execPath, [...process.execArgv, moduleBeside("runner"), this.#file], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, NODE_NO_WARNINGS: "1" },
    });
    // A process that ends before it has read its order says why on its output.
    child.stdin.on("error", () => undefined);
    child.stdin.end(JSON.stringify(order));
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

/** Returns the path of a program beside this module: a source in development, compiled in the package. */
function moduleBeside(name: string): string {
  return fileURLToPath(new URL(`./${name}${extname(import.meta.url)}`, import.meta.url));
}

/** Reads the last line of what `describe` printed: the application may have printed lines of its own before. */
function picturesIn(output: string): readonly GraphPicture[] {
  try {
    return JSON.parse(output.trimEnd().split("\n").at(-1) ?? "[]") as GraphPicture[];
  } catch {
    return [];
  }
}
