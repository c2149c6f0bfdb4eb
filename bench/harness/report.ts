import { formatted, printTable } from "../output/table.ts";

/** The unit of the numbers in a column. */
export type Unit = "count" | "µs" | "ms" | "s" | "bytes" | "MB" | "×" | "/s";

export interface Column {
  readonly title: string;
  readonly unit?: Unit;
}

export type Cell = string | number | null;

export interface Table {
  readonly part: string;
  readonly title: string;
  /** Remarks that a reader needs to understand the table. */
  readonly notes: readonly string[];
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
}

/** A promise about a ratio (or a number), and what this run found. */
export interface Target {
  readonly part: string;
  readonly name: string;
  readonly value: number;
  /** The greatest (or with `least` the smallest) value that keeps the promise. */
  readonly limit: number;
  readonly least?: boolean;
  readonly unit?: Unit;
}

/** A point of the plots. */
export interface Point {
  readonly system: string;
  readonly steps: number;
  /** Of a step, at the end of so many: the median, in µs. */
  readonly time: number;
  readonly bytes: number | null;
}

/** The results of a part, or of a run. */
export interface Findings {
  readonly tables: readonly Table[];
  readonly targets: readonly Target[];
  readonly points: readonly Point[];
}

/** Collects the findings of a part and prints them as they come. */
export class Report {
  readonly #tables: Table[] = [];
  readonly #targets: Target[] = [];
  readonly points: Point[] = [];
  readonly #part: string;

  constructor(part: string, title: string) {
    this.#part = part;
    console.log(`\n== ${part}: ${title}`);
  }

  get findings(): Findings {
    return { tables: this.#tables, targets: this.#targets, points: this.points };
  }

  table(title: string, columns: readonly Column[], rows: readonly (readonly Cell[])[], ...notes: string[]): void {
    const table = { part: this.#part, title, notes, columns, rows };
    this.#tables.push(table);
    printTable(table);
  }

  /** Rows of what was measured, what it was held against, the medians of both, and their ratio. */
  comparison(title: string, unit: "ms" | "µs", rows: readonly (readonly Cell[])[]): void {
    const columns: readonly Column[] = [
      { title: "ours" },
      { title: "against" },
      { title: "ours p50", unit },
      { title: "other p50", unit },
      { title: "ratio", unit: "×" },
    ];
    this.table(title, columns, rows);
  }

  target(name: string, value: number, limit: number, options: { readonly least?: boolean; unit?: Unit } = {}): void {
    const target = { part: this.#part, name, value, limit, ...options };
    this.#targets.push(target);
    console.log(lineOf(target));
  }
}

export function isMet({ value, limit, least }: Target): boolean {
  return least ? value >= limit : value <= limit;
}

export function lineOf(target: Target): string {
  const { name, value, limit, least, unit = "×" } = target;
  const verdict = isMet(target) ? "met    " : "NOT MET";
  return `  ${verdict}  ${name}: ${formatted(value, unit)} (${least ? "at least" : "at most"} ${formatted(limit, unit)})`;
}
