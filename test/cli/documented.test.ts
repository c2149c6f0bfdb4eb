import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { exitCodes } from "../../src/cli/failure.ts";
import { threadmark } from "./run.ts";

const text = readFileSync(new URL("../../docs/reference/cli.md", import.meta.url), "utf8");
const rowsOf = (heading: string): string[] => {
  const table = text.slice(text.indexOf(heading)).split("\n\n")[0]!;
  return table
    .split("\n")
    .slice(2)
    .filter((row) => row.startsWith("|"));
};

async function commands(): Promise<string[]> {
  const { out } = await threadmark(["--help"]);
  const list = out.slice(out.indexOf("Commands:"));
  return [...list.matchAll(/^ {2}([a-z-]+)(?:\|[a-z-]+)? /gm)].map(([, name]) => name!);
}

test("docs/reference/cli.md has every command, and no other", async () => {
  const first = rowsOf("| command | what it does |").map((row) => row.split("|")[1]!);
  const documented = first.flatMap((cell) => [...cell.matchAll(/`([a-z-]+)/g)].map(([, name]) => name!));
  expect(documented.sort()).toEqual((await commands()).sort());
});

test("docs/reference/cli.md says what --json gives for every command that has it", async () => {
  const first = rowsOf("| command | records |").map((row) => row.split("|")[1]!);
  const documented = first.flatMap((cell) => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name!));
  const having: string[] = [];
  for (const name of await commands()) {
    if ((await threadmark([name, "--help"])).out.includes("--json")) having.push(name);
  }
  expect(documented.sort()).toEqual(having.sort());
});

test("docs/reference/cli.md has every exit code, and no other", () => {
  const documented = rowsOf("| code | meaning |").map((row) => Number(row.split("|")[1]));
  expect(documented).toEqual(Object.values(exitCodes));
});
