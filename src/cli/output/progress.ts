import type { Session } from "../session.ts";
import type { Terminal } from "./terminal.ts";

const WIDTH = 24;
const INTERVAL = 80;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/** Shows the progress of long work on a terminal, and nothing elsewhere. */
export class ProgressLine {
  readonly #terminal: Terminal;
  readonly #label: string;
  readonly #shown: boolean;
  #last = 0;
  #frame = 0;
  #text = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(terminal: Terminal, label: string) {
    this.#terminal = terminal;
    this.#label = label;
    this.#shown = terminal.streams.stderr.isTTY === true;
  }

  /**
   * Runs `work`, which reports its progress. Ctrl-C ends it at the next report. The progress line is removed in any
   * case.
   */
  static async during<T>(
    { terminal, signal }: Session,
    label: string,
    work: (update: ProgressLine["update"]) => Promise<T>,
  ): Promise<T> {
    const progress = new ProgressLine(terminal, label);
    progress.#timer = setInterval(() => progress.#draw(), INTERVAL);
    progress.#timer.unref();
    try {
      return await work((done, total) => {
        signal.throwIfAborted();
        progress.update(done, total);
      });
    } finally {
      progress.end();
    }
  }

  /** Shows `done` of `total`, or `done` alone where the total is unknown. */
  update(done: number, total?: number): void {
    const now = performance.now();
    if (now - this.#last < INTERVAL) return;
    this.#last = now;
    this.#text = total === undefined || total === 0 ? done.toLocaleString("en") : bar(done, total);
    this.#draw();
  }

  end(): void {
    clearInterval(this.#timer);
    if (this.#shown) this.#terminal.streams.stderr.write("\r\u001b[2K");
  }

  #draw(): void {
    if (!this.#shown) return;
    this.#frame = (this.#frame + 1) % FRAMES.length;
    this.#terminal.streams.stderr.write(`\r\u001b[2K${FRAMES[this.#frame]} ${this.#label} ${this.#text}`);
  }
}

function bar(done: number, total: number): string {
  // Items added meanwhile may make `done` more than `total`.
  const filled = Math.min(WIDTH, Math.round((WIDTH * done) / total));
  return `${"█".repeat(filled)}${"░".repeat(WIDTH - filled)} ${done.toLocaleString("en")} of ${total.toLocaleString("en")}`;
}
