import { inspect } from "node:util";
import { UnregisteredInstance } from "../../display/tagged-json.ts";
import { printableLines } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

/** How much of a value is printed. */
export interface Limits {
  readonly items: number;
  readonly characters: number;
  readonly depth: number;
}

export const UNLIMITED: Limits = {
  items: Number.POSITIVE_INFINITY,
  characters: Number.POSITIVE_INFINITY,
  depth: Number.POSITIVE_INFINITY,
};

/** The limits that are tried in turn until a value is short enough to read. */
export const LIMITS: readonly Limits[] = [
  { items: 100, characters: 2_000, depth: Number.POSITIVE_INFINITY },
  { items: 20, characters: 300, depth: 8 },
  { items: 8, characters: 120, depth: 5 },
  { items: 4, characters: 60, depth: 3 },
];

/** A text that is longer than this takes several screens. */
const LONGEST = 6_000;

/** The words with which Node ends a list or a text that it cuts. */
const CUT = /\.\.\. \d+ more (?:item|character)/;

/** Formats a value for reading: shortened, with a word on how to see more, unless `full`. */
export function boundedText(terminal: Terminal, value: unknown, full: boolean): string {
  if (full) return valuePrinter(terminal, UNLIMITED)(value);
  for (const limits of LIMITS) {
    const text = valuePrinter(terminal, limits)(value);
    if (text.length > LONGEST && limits !== LIMITS.at(-1)) continue;
    if (limits === LIMITS[0] && !CUT.test(text)) return text;
    const how = "Shortened. --full prints all of it; name a part to see it whole: messages[-1].content";
    return `${text.length > 2 * LONGEST ? `${text.slice(0, 2 * LONGEST)}…` : text}\n${terminal.style("dim", how)}`;
  }
  return "";
}

/**
 * Returns a function that formats values as Node does: rich types with their names, control characters escaped. Node
 * does not escape those in errors and patterns; a text with any is printed without colour, since they look like colour
 * sequences.
 */
export function valuePrinter(terminal: Terminal, limits: Limits): (value: unknown) => string {
  const colors = terminal.style("bold", "x") !== "x";
  const options = {
    depth: limits.depth,
    colors,
    maxArrayLength: limits.items,
    maxStringLength: limits.characters,
    breakLength: Math.min(terminal.columns, 120),
  };
  return (value) => {
    const shown = value instanceof UnregisteredInstance ? { ...value } : value;
    const text = inspect(shown, { ...options, colors: false });
    const safe = printableLines(text);
    return colors && safe === text ? inspect(shown, options) : safe;
  };
}
