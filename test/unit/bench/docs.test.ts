import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { drawChart } from "../../../bench/output/chart.ts";
import { withResults } from "../../../bench/output/docs.ts";
import { plotsOf } from "../../../bench/output/plots.ts";
import { readResults } from "../../../bench/output/results.ts";

const docs = join(import.meta.dirname, "../../../docs");

it("docs/performance.md shows the results that are kept", () => {
  const page = readFileSync(join(docs, "performance.md"), "utf8");
  expect(withResults(page, readResults())).toBe(page);
});

it("the plots show the results that are kept", () => {
  const plots = plotsOf(readResults()).filter(({ chart }) => chart.lines.length > 0);
  expect(plots.length).toBeGreaterThan(0);
  for (const { file, chart } of plots) expect(readFileSync(join(docs, "images", file), "utf8")).toBe(drawChart(chart));
});

it("a page without its marks is refused", () => {
  expect(() => withResults("# Performance", readResults())).toThrow("has no <!-- results");
});
