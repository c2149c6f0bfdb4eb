import { writeFileSync } from "node:fs";
import { measureLangGraph } from "./langgraph.ts";
import { Place } from "./place.ts";
import { isMet, newReport } from "./report.ts";
import { runScript } from "./script.ts";
import { measureBytes } from "./store/bytes.ts";
import { measureConversation, measureWholeStates } from "./store/conversation.ts";
import { measureForks, measureLatest } from "./store/reading.ts";

/** `npm run bench [-- --quick]`: what a step costs beside the physical limit, in one run. Exit code 1 if a target is not met. */
const quick = process.argv.includes("--quick");
const place = new Place();
const report = newReport();
try {
  await measureConversation(place, report, quick ? [1_000] : [1_000, 3_000, 10_000]);
  await measureWholeStates(place, report);
  await measureLatest(place, report);
  await measureForks(place, report, quick ? 2_000 : 10_000);
  await measureBytes(place, report);
  runScript(report, "SQLite: a commit, and eight processes on one file", "sqlite-commit.ts", quick ? "1" : "5");
  if (!quick) {
    runScript(report, "Postgres: a commit, and 64 threads at once", "postgres-commit.ts", "--rounds", "3");
    runScript(report, "The runtime: a step of empty nodes, beside LangGraph.js", "runtime-langgraph.ts");
    await measureLangGraph(place, report, { messages: 1_000, steps: 128 });
  }
} finally {
  place.remove();
}
writeFileSync(new URL("results.json", import.meta.url), `${JSON.stringify(report, null, 2)}\n`);
const missed = report.targets.filter((target) => !isMet(target));
console.log(`\n${report.targets.length - missed.length} of ${report.targets.length} targets met`);
for (const target of missed)
  console.log(`  not met: ${target.name} (${target.value.toFixed(2)}, limit ${target.limit})`);
process.exitCode = missed.length === 0 ? 0 : 1;
