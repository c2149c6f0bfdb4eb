import { parseArgs } from "node:util";
import { installSavers } from "./environment/install.ts";
import { SharedServer } from "./environment/server.ts";
import type { Part } from "./harness/context.ts";
import { runHere, runPart } from "./harness/part-process.ts";
import { type Findings, isMet, lineOf } from "./harness/report.ts";
import { lostRaces } from "./output/lost-races.ts";
import { plotResults } from "./output/plots.ts";
import { machine, type Results, readResults, withParts, writeResults } from "./output/results.ts";
import { writeResultsPage } from "./output/results-page.ts";
import { printTable } from "./output/table.ts";
import { parts } from "./parts/index.ts";

const usage = `npm run bench -- [options]

  --quick         fewer and smaller runs: under a minute instead of ten
  --only <parts>  only these parts, by name, separated by commas
  --keep          with --only: put what these parts find in the place of what the last full run found
  --list          what parts there are
  --docs          measure nothing; write the plots and bench/RESULTS.md of the last full run again
  --help          this

A full run writes bench/results.json, docs/images/*.svg and bench/RESULTS.md; others write bench/partial.json. The exit code is 1 if a target is not met.`;

function chosenParts(only: string | undefined): readonly Part[] {
  if (only === undefined) return parts;
  return only.split(",").map((name) => {
    const part = parts.find((one) => one.name === name.trim());
    if (!part) throw new Error(`There is no part "${name}". npm run bench -- --list shows them.`);
    return part;
  });
}

async function measure(chosen: readonly Part[], quick: boolean): Promise<Results> {
  const server = new SharedServer();
  const [began, where] = [new Date(), machine()];
  const seconds: Record<string, number> = {};
  const found: Findings[] = [];
  try {
    for (const { name } of chosen) {
      const start = performance.now();
      found.push(await (quick ? runHere : runPart)(name, quick, server.url));
      seconds[name] = (performance.now() - start) / 1_000;
      console.log(`-- ${name}: ${seconds[name]?.toFixed(0)} s`);
    }
  } finally {
    await server.stop();
  }
  return {
    began: began.toISOString(),
    machine: where,
    quick,
    seconds,
    targets: found.flatMap(({ targets }) => targets),
    tables: found.flatMap(({ tables }) => tables),
    points: found.flatMap(({ points }) => points),
  };
}

function conclude({ targets, tables, seconds }: Results): boolean {
  const lost = lostRaces(tables);
  if (lost.rows.length > 0) printTable(lost);
  console.log("\n== targets");
  for (const target of targets) console.log(lineOf(target));
  const met = targets.filter(isMet).length;
  const total = Object.values(seconds).reduce((sum, part) => sum + part, 0);
  console.log(`\n${met} of ${targets.length} targets met, ${total.toFixed(0)} s`);
  return met === targets.length;
}

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    keep: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    docs: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (options.help) console.log(usage);
else if (options.list) for (const { name, title } of parts) console.log(`${name.padEnd(12)} ${title}`);
else if (options.docs) {
  const results = readResults();
  plotResults(results);
  writeResultsPage(results);
} else {
  const chosen = chosenParts(options.only);
  installSavers();
  const results = await measure(chosen, options.quick);
  const full = !options.quick && options.only === undefined;
  const kept = full ? results : options.keep && !options.quick ? withParts(readResults(), results) : undefined;
  writeResults(kept ?? results, kept !== undefined);
  if (kept) {
    plotResults(kept);
    writeResultsPage(kept);
  }
  // Not exitCode: what stops a Postgres server left behind, when Node ends by itself, makes a 0 of it.
  process.exit(conclude(results) ? 0 : 1);
}
