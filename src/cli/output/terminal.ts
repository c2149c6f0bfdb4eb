import { styleText } from "node:util";
import { printable, printableLines } from "./printable.ts";

type Format = Parameters<typeof styleText>[0];

/** The streams of the command line: the process's own, or those of a test. */
export interface Streams {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream & {
    readonly isTTY?: boolean;
    readonly columns?: number;
    readonly rows?: number;
  };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Shows a text that is longer than the screen; resolves to false if no program for that can be run. */
  readonly page?: (text: string) => Promise<boolean>;
}

/** Writes to people and to programs. Uses colour only on a terminal that wants it. */
export class Terminal {
  readonly streams: Streams;
  /** True if a person reads the output as it comes. */
  readonly interactive: boolean;
  readonly #colour: boolean;
  /** Lines held back for a pager. */
  #held: string[] | undefined;

  constructor(streams: Streams) {
    this.streams = streams;
    this.interactive = streams.stdout.isTTY === true;
    this.#colour = wantsColour(streams);
  }

  /** Returns the width of the terminal; unbounded for a pipe. */
  get columns(): number {
    return this.interactive ? (this.streams.stdout.columns ?? 80) : Number.POSITIVE_INFINITY;
  }

  style(format: Format, text: string): string {
    // Decided once, in the constructor: styleText itself would check the process's streams, not these.
    return this.#colour ? styleText(format, text, { validateStream: false }) : text;
  }

  line(text = ""): void {
    if (this.#held) this.#held.push(text);
    else this.streams.stdout.write(`${text}\n`);
  }

  /** Runs `work`; a person whose screen its lines do not fit on reads them in a pager. */
  async paged(work: () => Promise<void>): Promise<void> {
    const { page, stdout } = this.streams;
    if (!this.interactive || page === undefined) return work();
    this.#held = [];
    try {
      await work();
    } finally {
      const lines = this.#held;
      this.#held = undefined;
      const text = lines.map((line) => `${line}\n`).join("");
      const isLong = text.split("\n").length > (stdout.rows ?? Number.POSITIVE_INFINITY);
      if (!isLong || !(await page(text))) stdout.write(text);
    }
  }

  /**
   * Writes a record for programs, on a line of its own. Characters that JSON leaves alone and a terminal would obey are
   * escaped too.
   */
  json(value: unknown): void {
    this.line(printable(JSON.stringify(value)));
  }

  /** Writes a failure to people, its name in red where the terminal has colours. */
  complain(message: string): void {
    const isColoured = this.#colour && this.streams.stderr.isTTY === true;
    const name = isColoured ? styleText(["red", "bold"], "threadmark:", { validateStream: false }) : "threadmark:";
    this.streams.stderr.write(`${name} ${printableLines(message)}\n`);
  }

  /** Writes to people who watch, not into the output. Failures name ids unescaped, so the text is escaped here. */
  note(text: string): void {
    this.streams.stderr.write(`${printableLines(text)}\n`);
  }
}

/**
 * Tells whether to use colour: NO_COLOR (no-color.org) and FORCE_COLOR decide, else whether the output is a capable
 * terminal.
 */
function wantsColour({ env, stdout }: Streams): boolean {
  if (env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== "") return false;
  if (env["FORCE_COLOR"] !== undefined && env["FORCE_COLOR"] !== "" && env["FORCE_COLOR"] !== "0") return true;
  return stdout.isTTY === true && env["TERM"] !== "dumb";
}
