import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A script in a process of its own, talked to line by line. */
export class Child {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<number | null>;

  constructor(script: URL, ...args: string[]) {
    this.#process = spawn(process.execPath, [fileURLToPath(script), ...args], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#ended = new Promise((resolve) => this.#process.once("exit", resolve));
    const output = this.#process.stdout;
    if (output === null) throw new Error("the child has no output");
    this.#lines = createInterface({ input: output })[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`the child ended with ${await this.#ended} before it answered`);
    return value;
  }

  /** Lets a child go on that waits for its input. */
  go(): void {
    this.#process.stdin?.end("go\n");
  }

  async end(): Promise<number | null> {
    return this.#ended;
  }
}
