import { writeFileSync } from "node:fs";
import { isMet, type Table, type Target } from "../harness/report.ts";
import { lostRaces } from "./lost-races.ts";
import { plotsOf } from "./plots.ts";
import type { Results } from "./results.ts";
import { formatted, markdownTable } from "./table.ts";

const page = new URL("../RESULTS.md", import.meta.url);

export function writeResultsPage(results: Results): void {
  writeFileSync(page, resultsPage(results));
}

/** Returns the text of bench/RESULTS.md for the results of a run. */
export function resultsPage(results: Results): string {
  const { machine, began, seconds } = results;
  const minutes = Object.values(seconds).reduce((sum, part) => sum + part, 0) / 60;
  const met = results.targets.filter(isMet).length;
  const memory = Math.round(machine.memory / 2 ** 30);
  const sections = [
    "# Results of the benchmark",
    "Written by `npm run bench`; do not edit. [Performance](../docs/explanation/performance.md) says how it is measured and what dominates.",
    `Measured ${began.slice(0, 10)} on ${machine.cores} cores (${machine.processor}), ${memory} GB, ${machine.system}, ` +
      `Node ${machine.node}, SQLite ${machine.sqlite}, in ${minutes.toFixed(1)} minutes, with a load of ` +
      `${machine.load.toFixed(1)} from other work when it began. ${met} of ${results.targets.length} targets met.${again(results)}`,
    ...plotsOf(results)
      .filter(({ chart }) => chart.lines.length > 0)
      .map(({ file, chart }) => `![${chart.title}](../docs/images/${file})`),
    "## Targets",
    markdownTable(targetsTable(results.targets)),
    "## Where others win",
    "Everything in which a saver of LangGraph took less time or fewer bytes than ours on the same home, in the tables below.",
    markdownTable(lostRaces(results.tables)),
    "## Everything measured",
    ...results.tables.flatMap(tableSection),
  ];
  return `${sections.join("\n\n")}\n`;
}

function again({ again: parts = {} }: Results): string {
  const names = Object.entries(parts).map(([part, when]) => `${part} (${when})`);
  return names.length === 0 ? "" : ` Measured again later: ${names.join(", ")}.`;
}

function targetsTable(targets: readonly Target[]): Table {
  const columns = [{ title: "what" }, { title: "found" }, { title: "wanted" }, { title: "" }];
  const rows = targets.map((target) => {
    const { name, value, limit, least, unit = "×" } = target;
    const wanted = `${least ? "≥" : "≤"} ${formatted(limit, unit)}`;
    return [name, formatted(value, unit), wanted, isMet(target) ? "met" : "**not met**"];
  });
  return { part: "", title: "Targets", notes: [], columns, rows };
}

/** Returns a table under a fold, because there are many and long ones. */
function tableSection(table: Table): string[] {
  const notes = table.notes.map((note) => `- ${note}`).join("\n");
  const summary = `<details><summary>${table.title}</summary>`;
  return [summary, ...(notes === "" ? [] : [notes]), markdownTable(table), "</details>"];
}
