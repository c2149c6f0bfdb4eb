import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./run.ts";

const files = [
  "src/model/interface/*.ts",
  "src/backends/*/index.ts",
  "src/runtime/{call,flow,graph,outside,run,work}/*.ts",
  "src/langgraph/{options,runs/exclusive}.ts",
  "src/{otel,large-values}/index.ts",
].flatMap((pattern) => globSync(pattern, { cwd: root }));

/** Returns the exported interfaces of options in a source: the name, whether a comment stands before it, and its lines. */
function optionsIn(source: string): readonly { name: string; documented: boolean; lines: readonly string[] }[] {
  const found = source.matchAll(/(\*\/\n(?:\/\/.*\n)*)?^export interface (\w+Options)\b[^{]*\{\n(.*?)^\}/gms);
  return [...found].map(([, comment, name, body]) => ({
    name: name as string,
    documented: comment !== undefined,
    lines: (body as string).split("\n"),
  }));
}

/** Returns the optional members whose comment, which stands above them, does not tell a default. */
function withoutDefault(lines: readonly string[]): readonly string[] {
  const missing: string[] = [];
  let comment = "";
  for (const line of lines) {
    const [, member] = /^ {2}(?:readonly )?(\w+)(?:\?:|\?\()|^ {2}(\w+)\?/.exec(line) ?? [];
    if (member !== undefined && !/default|@internal/i.test(comment)) missing.push(member);
    comment = /^ {2}(?:\/\*\*| \*|\/\/)/.test(line) ? comment + line : "";
  }
  return missing;
}

test("every interface of options has a comment, and every option tells its default", () => {
  const all = files.flatMap((file) => optionsIn(readFileSync(join(root, file), "utf8")));
  expect(all.length).toBeGreaterThan(30);
  const faults = all.flatMap(({ name, documented, lines }) => [
    ...(documented ? [] : [name]),
    ...withoutDefault(lines).map((member) => `${name}.${member}`),
  ]);
  expect(faults).toEqual([]);
});
