import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Place } from "../../support/places.ts";

const script = new URL("./holder.ts", import.meta.url).pathname;

/** A process that holds, or wants, the lease of a thread. */
export class Holder {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  static async start(place: Place, name: string): Promise<Holder> {
    const child = spawn(process.execPath, [script, String(place.url), JSON.stringify(place.options ?? {}), name]);
    child.stderr.pipe(process.stderr);
    const holder = new Holder(child);
    await holder.#next();
    return holder;
  }

  /** Tells the process what to do, and gives its answer. */
  async ask(line: string): Promise<Record<string, unknown>> {
    this.tell(line);
    return this.#next();
  }

  /** Tells the process what to do, without waiting: it may be asleep. */
  tell(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  next(): Promise<Record<string, unknown>> {
    return this.#next();
  }

  stop(): void {
    this.#child.kill("SIGSTOP");
  }

  continue(): void {
    this.#child.kill("SIGCONT");
  }

  async end(): Promise<void> {
    const closed = new Promise((resolve) => this.#child.on("close", resolve));
    this.#child.kill("SIGCONT");
    this.#child.stdin.end();
    await closed;
  }

  async #next(): Promise<Record<string, unknown>> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error("the holder ended before it answered");
    return JSON.parse(value) as Record<string, unknown>;
  }
}
