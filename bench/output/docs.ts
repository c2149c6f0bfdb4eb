import { readFileSync, writeFileSync } from "node:fs";
import { isMet, type Table, type Target } from "../harness/report.ts";
import { plotsOf } from "./plots.ts";
import type { Results } from "./results.ts";
import { formatted, markdownTable } from "./table.ts";

const page = new URL("../../docs/performance.md", import.meta.url);
const [begin, end] = ["<!-- results: written by npm run bench, do not edit -->", "<!-- end of results -->"];

/** The same page with the results of a run between its marks. */
export function withResults(text: string, results: Results): string {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/performance.md has no ${begin} … ${end}.`);
  return `${text.slice(0, from + begin.length)}\n\n${block(results)}\n\n${text.slice(to)}`;
}

export function writeDocs(results: Results): void {
  writeFileSync(page, withResults(readFileSync(page, "utf8"), results));
}

function block(results: Results): string {
  const { machine, began, seconds } = results;
  const minutes = Object.values(seconds).reduce((sum, part) => sum + part, 0) / 60;
  const met = results.targets.filter(isMet).length;
  const memory = Math.round(machine.memory / 2 ** 30);
  return [
    `Measured ${began.slice(0, 10)} on ${machine.cores} cores (${machine.processor}), ${memory} GB, ${machine.system}, ` +
      `Node ${machine.node}, SQLite ${machine.sqlite}, in ${minutes.toFixed(1)} minutes, with a load of ` +
      `${machine.load.toFixed(1)} from other work when it began. ${met} of ${results.targets.length} targets met.${again(results)}`,
    ...plotsOf(results)
      .filter(({ chart }) => chart.lines.length > 0)
      .map(({ file, chart }) => `![${chart.title}](images/${file})`),
    "### Targets",
    markdownTable(targetsTable(results.targets)),
    "### Everything measured",
    ...results.tables.flatMap(tableSection),
  ].join("\n\n");
}

function again({ again: parts = {} }: Results): string {
  const names = Object.entries(parts).map(([part, began]) => `${part} (${began.slice(0, 16).replace("T", " ")})`);
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

/** Folded: there are many, and long ones. */
function tableSection(table: Table): string[] {
  const notes = table.notes.map((note) => `- ${note}`).join("\n");
  const summary = `<details><summary>${table.title}</summary>`;
  return [summary, ...(notes === "" ? [] : [notes]), markdownTable(table), "</details>"];
}
