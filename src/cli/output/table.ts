import { stripVTControlCharacters } from "node:util";
import { columnsOf, printable, shortened } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  /** Colours the cell, after it was measured. */
  readonly style?: (text: string, row: Row) => string;
  readonly align?: "right";
  /** May be shortened when the terminal is too narrow. */
  readonly flexible?: true;
}

const GAP = "  ";
const NARROWEST = 8;

/** Prints rows under their titles, aligned. Columns that are empty in every row are left out. */
export function printTable<Row>(terminal: Terminal, columns: readonly Column<Row>[], rows: readonly Row[]): void {
  const cells = columns.map((column) => rows.map((row) => printable(column.text(row))));
  const shown = columns.map((_, index) => index).filter((index) => cells[index]?.some((cell) => cell !== ""));
  const widths = fitted(
    shown.map((index) => ({
      width: cells[index]!.reduce((most, cell) => Math.max(most, columnsOf(cell)), columns[index]!.title.length),
      flexible: columns[index]!.flexible === true,
    })),
    terminal.columns,
  );
  const line = (texts: readonly string[]): string => texts.join(GAP).trimEnd();
  const pad = (text: string, width: number, align: "right" | undefined): string => {
    const space = " ".repeat(Math.max(0, width - columnsOf(text)));
    return align === "right" ? space + text : text + space;
  };
  terminal.line(
    line(
      shown.map((index, place) => {
        const { title, align } = columns[index]!;
        const last = place === shown.length - 1 && align === undefined;
        return terminal.style("dim", last ? title : pad(title, widths[place]!, align));
      }),
    ),
  );
  for (const [position, row] of rows.entries()) {
    terminal.line(
      line(
        shown.map((index, place) => {
          const { align, style } = columns[index]!;
          const text = pad(shortened(cells[index]![position]!, widths[place]!), widths[place]!, align);
          return style === undefined ? text : style(text, row);
        }),
      ),
    );
  }
}

interface Width {
  readonly width: number;
  readonly flexible: boolean;
}

/** Narrows the widest flexible column until all fit. */
function fitted(columns: readonly Width[], available: number): number[] {
  const widths = columns.map(({ width }) => width);
  const total = (): number => widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));
  while (total() > available) {
    let widest = -1;
    for (const [index, { flexible }] of columns.entries()) {
      if (flexible && widths[index]! > (widths[widest] ?? NARROWEST)) widest = index;
    }
    if (widest < 0) break;
    widths[widest] = Math.max(NARROWEST, widths[widest]! - (total() - available));
  }
  return widths;
}

/** Prints a name and a value on each line, aligned. */
export function printFacts(terminal: Terminal, facts: readonly (readonly [name: string, value: string])[]): void {
  const width = Math.max(...facts.map(([name]) => name.length));
  for (const [name, value] of facts) {
    if (stripVTControlCharacters(value) !== "") terminal.line(`${terminal.style("dim", name.padEnd(width))}  ${value}`);
  }
}
