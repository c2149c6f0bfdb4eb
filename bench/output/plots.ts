import { writeFileSync } from "node:fs";
import { type Chart, drawChart, type Line } from "./chart.ts";
import type { Results } from "./results.ts";
import { formatted } from "./table.ts";

interface Group {
  readonly file: string;
  readonly name: string;
  includes(system: string): boolean;
}

/**
 * A line for each system would make two dozen in one picture: each kind of home has its own picture, with the floors in
 * it.
 */
const groups: readonly Group[] = [
  { file: "sqlite", name: "SQLite", includes: (system) => /sqlite|^JSON/i.test(system) && !/flate|zstd/.test(system) },
  { file: "postgres", name: "Postgres", includes: (system) => /postgres|^JSON/i.test(system) },
  { file: "memory-file", name: "memory and files", includes: (system) => /memory|, file|^JSON/i.test(system) },
];

function kindOf(system: string): Line["kind"] {
  if (system.startsWith("Threadmark")) return "threadmark";
  return system.startsWith("LangGraph") ? "peer" : "floor";
}

function linesOf(
  { points }: Results,
  group: Group,
  value: (point: Results["points"][number]) => number | null,
): Line[] {
  const shown = points.filter(({ system }) => group.includes(system));
  return [...new Set(shown.map(({ system }) => system))].flatMap((name) => {
    const line = shown.flatMap((point) => {
      const found = value(point);
      return point.system !== name || found === null || found <= 0 ? [] : [[point.steps, found] as const];
    });
    return line.length < 2 ? [] : [{ name, kind: kindOf(name), points: line }];
  });
}

/** Returns the file names and charts of a run's plots. */
export function plotsOf(results: Results): readonly { readonly file: string; readonly chart: Chart }[] {
  return groups.flatMap((group) => [
    {
      file: `time-${group.file}.svg`,
      chart: {
        title: `Time a step at the end of N, ${group.name}`,
        x: "N, messages in the conversation",
        y: "p50, log scale",
        lines: linesOf(results, group, ({ time }) => time),
        label: (value) => (value >= 1_000 ? formatted(value / 1_000, "ms") : formatted(value, "µs")),
      },
    },
    {
      file: `bytes-${group.file}.svg`,
      chart: {
        title: `Bytes a step, ${group.name}`,
        x: "N, messages in the conversation",
        y: "on the medium, after vacuum, log scale",
        lines: linesOf(results, group, ({ bytes }) => bytes),
        label: (value) => formatted(value, "bytes"),
      },
    },
  ]);
}

export function plotResults(results: Results): void {
  for (const { file, chart } of plotsOf(results)) {
    if (chart.lines.length === 0) continue;
    writeFileSync(new URL(`../../docs/images/${file}`, import.meta.url), drawChart(chart));
  }
}
