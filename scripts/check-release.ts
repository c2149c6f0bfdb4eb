import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Checks that a release tag fits: it names the version of package.json, and CHANGELOG.md has a section of that version. */
process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const [tag = ""] = process.argv.slice(2);
const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const faults: string[] = [];
if (tag !== `v${version}`) faults.push(`The tag is ${JSON.stringify(tag)}, package.json has version ${version}.`);
if (
  !readFileSync("CHANGELOG.md", "utf8")
    .split("\n")
    .some((line) => line.startsWith(`## ${version}`))
) {
  faults.push(`CHANGELOG.md has no section "## ${version}".`);
}
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
