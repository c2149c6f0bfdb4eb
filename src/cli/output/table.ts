import { stripVTControlCharacters } from "node:util";
import { columnsOf, printable, shortened, shortenedInside } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

export interface TableColumn<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  /** Colours the cell, after it was measured. */
  readonly style?: (text: string, row: Row) => string;
  readonly align?: "right";
  /** May be shortened when the terminal is too narrow. */
  readonly flexible?: true;
  /**
   * When the terminal is too narrow, columns leave in this order, 1 first. A column without a number stays; a name that people
   * have to type again is such a column.
   */
  readonly leaves?: number;
  /** The characters to which a flexible column is shortened before other columns leave. Default: the width of nine in ten rows. */
  readonly least?: number;
  /** Where a text is shortened. Default: at the end of a column that may leave, inside one that stays, such as an id. */
  readonly cut?: "end";
}

const GAP = "  ";
const NARROWEST = 8;
/** Flexible columns that may leave are first shortened to this. */
const COMFORTABLE = 20;

/** Prints rows under their titles, aligned. Columns that are empty in every row are left out. */
export function printTable<Row>(terminal: Terminal, columns: readonly TableColumn<Row>[], rows: readonly Row[]): void {
  const cells = columns.map((column) => rows.map((row) => printable(column.text(row))));
  const filled = columns.map((_, index) => index).filter((index) => cells[index]?.some((cell) => cell !== ""));
  const fitted = fitColumns(
    filled.map((index) => ({
      index,
      width: cells[index]!.reduce((most, cell) => Math.max(most, columnsOf(cell)), columns[index]!.title.length),
      flexible: columns[index]!.flexible === true,
      leaves: columns[index]!.leaves,
      least: Math.max(columns[index]!.title.length, columns[index]!.least ?? usualWidth(cells[index]!)),
    })),
    terminal.columns,
  );
  const shown = fitted.map(({ index }) => index);
  const widths = fitted.map(({ width }) => width);
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
          const { align, style, leaves, cut: where } = columns[index]!;
          const cut = leaves === undefined && where === undefined ? shortenedInside : shortened;
          const text = pad(cut(cells[index]![position]!, widths[place]!), widths[place]!, align);
          return style === undefined ? text : style(text, row);
        }),
      ),
    );
  }
}

interface Width {
  readonly index: number;
  readonly width: number;
  readonly flexible: boolean;
  readonly leaves: number | undefined;
  readonly least: number;
}

/** Returns the width that nine of ten cells need: a single long name must not drive other columns out. */
function usualWidth(cells: readonly string[]): number {
  const widths = cells.map(columnsOf).sort((left, right) => left - right);
  return widths[Math.ceil(widths.length * 0.9) - 1] ?? 0;
}

/**
 * Makes columns fit: flexible ones that may leave are shortened to a comfortable width, and those that stay to their least; then
 * columns leave in their order, and at last the flexible columns that stay are narrowed further, the widest first.
 */
function fitColumns(columns: readonly Width[], available: number): Width[] {
  let kept = [...columns];
  const total = (): number => kept.reduce((sum, { width }) => sum + width, GAP.length * (kept.length - 1));
  if (total() <= available) return kept;
  kept = kept.map((column) => {
    const isLong = column.flexible && column.leaves !== undefined && column.width > COMFORTABLE;
    return isLong ? { ...column, width: COMFORTABLE } : column;
  });
  const isShrinkable = ({ flexible, leaves }: Width): boolean => flexible && leaves === undefined;
  const spare = (): number =>
    kept.filter(isShrinkable).reduce((sum, { width, least }) => sum + Math.max(0, width - least), 0);
  while (total() - spare() > available) {
    const next = Math.min(...kept.map(({ leaves = Number.POSITIVE_INFINITY }) => leaves));
    if (next === Number.POSITIVE_INFINITY) break;
    kept = kept.filter(({ leaves }) => leaves !== next);
  }
  const widestFirst = kept.filter(isShrinkable).sort((left, right) => right.width - left.width);
  for (const { index } of widestFirst) {
    const place = kept.findIndex((column) => column.index === index);
    const { width, least } = kept[place]!;
    const narrowed = Math.max(Math.min(width, least), width - Math.max(0, total() - available));
    kept[place] = { ...kept[place]!, width: narrowed };
  }
  while (total() > available) {
    const widest = kept.reduce(
      (most, { flexible, width }, place) => (flexible && width > (kept[most]?.width ?? NARROWEST) ? place : most),
      -1,
    );
    if (widest < 0) break;
    const { width } = kept[widest]!;
    kept[widest] = { ...kept[widest]!, width: Math.max(NARROWEST, width - (total() - available)) };
  }
  return kept;
}

/** Prints a name and a value on each line, aligned. */
export function printFacts(terminal: Terminal, facts: readonly (readonly [name: string, value: string])[]): void {
  const width = Math.max(...facts.map(([name]) => name.length));
  for (const [name, value] of facts) {
    if (stripVTControlCharacters(value) !== "") terminal.line(`${terminal.style("dim", name.padEnd(width))}  ${value}`);
  }
}
