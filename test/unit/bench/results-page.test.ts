import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { drawChart } from "../../../bench/output/chart.ts";
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
