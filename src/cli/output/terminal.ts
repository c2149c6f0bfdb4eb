import { styleText } from "node:util";
import { printable, printableLines } from "./printable.ts";

type Format = Parameters<typeof styleText>[0];

/** What the command line reads from and writes to: the process's own streams, or those of a test. */
export interface Streams {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Writes to people and to programs. Colour only on a terminal that wants it. */
export class Terminal {
  readonly streams: Streams;
  /** Whether somebody reads the output as it comes. */
  readonly interactive: boolean;
  readonly #colour: boolean;

  constructor(streams: Streams) {
    this.streams = streams;
    this.interactive = streams.stdout.isTTY === true;
    this.#colour = wantsColour(streams);
  }

  /** The width of the terminal; unbounded for a pipe. */
  get columns(): number {
    return this.interactive ? (this.streams.stdout.columns ?? 80) : Number.POSITIVE_INFINITY;
  }

  style(format: Format, text: string): string {
    // The decision is made here, once: styleText's own looks at the process's streams, not at ours.
    return this.#colour ? styleText(format, text, { validateStream: false }) : text;
  }

  line(text = ""): void {
    this.streams.stdout.write(`${text}\n`);
  }

  /** A record for programs, on a line of its own. What JSON leaves as it is and a terminal would obey is escaped, too. */
  json(value: unknown): void {
    this.line(printable(JSON.stringify(value)));
  }

  /** To people who watch, not into the output. Failures name ids as they are. */
  note(text: string): void {
    this.streams.stderr.write(`${printableLines(text)}\n`);
  }
}

/** As NO_COLOR (no-color.org) and FORCE_COLOR say; else by whether it is a terminal that can. */
function wantsColour({ env, stdout }: Streams): boolean {
  if (env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== "") return false;
  if (env["FORCE_COLOR"] !== undefined && env["FORCE_COLOR"] !== "" && env["FORCE_COLOR"] !== "0") return true;
  return stdout.isTTY === true && env["TERM"] !== "dumb";
}
