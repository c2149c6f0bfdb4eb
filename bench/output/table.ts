import type { Cell, Column, Table, Unit } from "../harness/report.ts";

/** A number as people read it, with its unit. */
export function formatted(value: number, unit: Unit | undefined): string {
  switch (unit) {
    case "×":
      return `${digits(value)} ×`;
    case "µs":
    case "ms":
    case "s":
    case "MB":
      return `${digits(value)} ${unit}`;
    case "/s":
      return `${digits(value)}/s`;
    case "bytes":
      return value >= 1e6 ? `${digits(value / 1e6)} MB` : value >= 1e4 ? `${digits(value / 1e3)} KB` : digits(value);
    default:
      return digits(value);
  }
}

function digits(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 100) return Math.round(value).toLocaleString("en");
  if (Math.abs(value) >= 10) return value.toFixed(1);
  return value.toFixed(Math.abs(value) < 0.1 ? 3 : 2);
}

function cellText(cell: Cell, column: Column | undefined): string {
  if (cell === null) return "–";
  return typeof cell === "string" ? cell : formatted(cell, column?.unit);
}

/** On the terminal: text to the left, numbers to the right. */
export function printTable({ title, notes, columns, rows }: Table): void {
  const texts = rows.map((row) => row.map((cell, index) => cellText(cell, columns[index])));
  const widths = columns.map(({ title: name }, index) =>
    Math.max(name.length, ...texts.map((row) => (row[index] as string).length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((text, index) => {
        const width = widths[index] as number;
        return columns[index]?.unit === undefined ? text.padEnd(width) : text.padStart(width);
      })
      .join("  ")
      .trimEnd();
  console.log(`\n${title}`);
  for (const note of notes) console.log(`(${note})`);
  console.log(`  ${line(columns.map(({ title: name }) => name))}`);
  for (const row of texts) console.log(`  ${line(row)}`);
  console.log();
}

/** In the documentation. */
export function markdownTable({ columns, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    line(columns.map(({ title }) => title)),
    line(columns.map(({ unit }) => (unit === undefined ? "---" : "---:"))),
    ...rows.map((row) => line(row.map((cell, index) => cellText(cell, columns[index]).replaceAll("|", "\\|")))),
  ].join("\n");
}
