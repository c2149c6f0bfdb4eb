import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { codesOf, documentedCodes, errorFaults } from "./errors.ts";

/** Fails on an error message that does not say what to do, and on a code that the page of errors lacks. */

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

let count = 0;
let faulty = 0;
const complain = (text: string): void => {
  faulty += 1;
  console.error(text);
};
for (const path of readdirSync("src", { recursive: true, encoding: "utf8" })) {
  if (!path.endsWith(".ts")) continue;
  const found = errorFaults(readFileSync(`src/${path}`, "utf8"));
  count += found.count;
  for (const { line, message } of found.faults) complain(`src/${path}:${line}: say what to do: ${message}`);
}

const page = "docs/reference/errors.md";
const documented = documentedCodes(readFileSync(page, "utf8"));
const codes = [
  ...codesOf(readFileSync("src/errors.ts", "utf8"), "ErrorCode"),
  ...codesOf(readFileSync("src/runtime/errors.ts", "utf8"), "RunErrorCode"),
];
for (const code of codes) if (!documented.includes(code)) complain(`${page}: ${code} has no row`);
for (const code of documented) if (!codes.includes(code)) complain(`${page}: there is no code ${code}`);
console.log(`${count} errors of ${codes.length} codes, ${faulty} faults`);
process.exitCode = faulty > 0 ? 1 : 0;
