import type { Terminal } from "./terminal.ts";

const WIDTH = 24;
const INTERVAL = 80;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/** Shows on a terminal how far a long work is. Elsewhere it says nothing. */
export class Progress {
  readonly #terminal: Terminal;
  readonly #label: string;
  readonly #shown: boolean;
  #last = 0;
  #frame = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(terminal: Terminal, label: string) {
    this.#terminal = terminal;
    this.#label = label;
    this.#shown = terminal.streams.stderr.isTTY === true;
  }

  /** A work whose length nobody knows. */
  static async during<T>(terminal: Terminal, label: string, work: Promise<T>): Promise<T> {
    const progress = new Progress(terminal, label);
    progress.#timer = setInterval(() => progress.#draw(""), INTERVAL);
    progress.#timer.unref();
    try {
      return await work;
    } finally {
      progress.end();
    }
  }

  /** `done` of `total`, or of nobody knows how many. */
  update(done: number, total?: number): void {
    const now = performance.now();
    if (now - this.#last < INTERVAL) return;
    this.#last = now;
    if (total === undefined || total === 0) this.#draw(done.toLocaleString("en"));
    else {
      const filled = Math.round((WIDTH * done) / total);
      this.#draw(
        `${"█".repeat(filled)}${"░".repeat(WIDTH - filled)} ${done.toLocaleString("en")} of ${total.toLocaleString("en")}`,
      );
    }
  }

  end(): void {
    clearInterval(this.#timer);
    if (this.#shown) this.#terminal.streams.stderr.write("\r\u001b[2K");
  }

  #draw(text: string): void {
    if (!this.#shown) return;
    this.#frame = (this.#frame + 1) % FRAMES.length;
    this.#terminal.streams.stderr.write(`\r\u001b[2K${FRAMES[this.#frame]} ${this.#label} ${text}`);
  }
}
