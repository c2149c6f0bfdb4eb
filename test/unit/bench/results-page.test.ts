import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Cell, Column, Table } from "../../../bench/harness/report.ts";
import { drawChart } from "../../../bench/output/chart.ts";
import { lostRaces } from "../../../bench/output/lost-races.ts";
import { plotsOf } from "../../../bench/output/plots.ts";
import { readResults } from "../../../bench/output/results.ts";
import { resultsPage } from "../../../bench/output/results-page.ts";

const root = join(import.meta.dirname, "../../..");

it("bench/RESULTS.md shows the results that are kept", () => {
  expect(readFileSync(join(root, "bench/RESULTS.md"), "utf8")).toBe(resultsPage(readResults()));
});

it("the plots show the results that are kept", () => {
  const plots = plotsOf(readResults()).filter(({ chart }) => chart.lines.length > 0);
  expect(plots.length).toBeGreaterThan(0);
  for (const { file, chart } of plots)
    expect(readFileSync(join(root, "docs/images", file), "utf8")).toBe(drawChart(chart));
});

it("the page lists what a peer did better than our saver on the same home, and nothing else", () => {
  const table = (title: string, columns: readonly Column[], rows: readonly (readonly Cell[])[]): Table => {
    return { part: "p", title, notes: [], columns, rows };
  };
  const systems = table(
    "A talk",
    [
      { title: "system" },
      { title: "steps" },
      { title: "step p50", unit: "µs" },
      { title: "bytes a step", unit: "bytes" },
    ],
    [
      ["Threadmark, SQLite, LangGraph saver", "300", 240, 1_400],
      ["Threadmark, memory, LangGraph saver", "300", 100, null],
      ["LangGraph SqliteSaver + DeltaChannel", "300", 120, 1_500],
      ["LangGraph MemorySaver", "stopped after 20", 10, null],
      ["raw insert of the change, SQLite", "300", 10, 140],
    ],
  );
  const columns = ["ours", "against", "ours p50", "other p50", "ratio"].map((title): Column => ({ title, unit: "µs" }));
  const inTurns = table("In turns", columns, [
    ["put", "raw insert", 20, 10, 2],
    ["tiny", "SqliteSaver", 30, 10, 3],
    ["long", "SqliteSaver", 10, 30, 0.3],
  ]);
  expect(lostRaces([systems, inTurns]).rows).toEqual([
    ["tiny, time", "SqliteSaver", "30 µs", "10 µs", 3],
    ["A talk, 300 steps, step p50", "SqliteSaver + DeltaChannel", "240 µs", "120 µs", 2],
  ]);
});
