/**
 * Run by the kill tests as a process of its own, to be killed: imports the bundle in a file, and tells on its standard output
 * the number of each line before it gives the line to the import: `importer.ts url options bundle`.
 */
import { readFileSync, writeSync } from "node:fs";
import { open } from "../../../src/api/open.ts";

const [url = "", options = "{}", bundle = ""] = process.argv.slice(2);

function* told(lines: readonly string[]): Generator<string> {
  for (const [index, line] of lines.entries()) {
    writeSync(1, `${index}\n`);
    yield `${line}\n`;
  }
}

const store = await open(url, JSON.parse(options));
await store.import(told(readFileSync(bundle, "utf8").trimEnd().split("\n")));
// A process that ended by itself could not be killed: the kill may come late.
setInterval(() => {}, 60_000);
