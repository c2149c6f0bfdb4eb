import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root, runProgram } from "../../docs/run.ts";
import { folderOfFile } from "../../support/folders-of-tests.ts";

/** Parts of the output of each example. */
const says: Record<string, readonly (string | RegExp)[]> = {
  "ask-before-acting.ts": [
    "ann: interrupted, waiting for an answer to { allow: { tool: 'refund', input: 'order 17' } }",
    "ann: done, Done: the money is on its way.",
    "bob: done, I was not allowed to. A colleague will call you.",
    "what happened outside: [ 'refund of order 17 (ann/1/1.0)' ]",
  ],
  "crash-and-resume.ts": [
    /killed after [234] bookings/,
    "booked: Oslo, Lima, Kyoto, Accra",
    // A kill may hit a booking whose write was not durable yet: that one alone may be seen twice.
    /the outside saw: (Oslo, )+(Lima, )+(Kyoto, )+Accra/,
  ],
  "map-reduce.ts": [
    "Three things about nature: Whales sing. Moss grows slowly. Volcanoes do not ask.",
    "n2 -->|join| n5",
  ],
  "nested-graph.ts": [
    "research/check (0.1~.1.0~0) asks: { doubtful: 'There may be ghosts.' }",
    "tides: The moon pulls the sea.",
    "ghosts: There may be ghosts. (Unchecked.)",
    "research/0.1: researcher, step 2",
  ],
};

const cwd = folderOfFile();

test("every example of the runtime is run here", () => {
  const found = readdirSync(join(root, "examples")).filter((name) => name in says);
  expect(found.sort()).toEqual(Object.keys(says).sort());
});

test.each(Object.entries(says))("%s runs, and says what it should", async (name, parts) => {
  const { code, output } = await runProgram(join(root, "examples", name), cwd, { ...process.env, NO_COLOR: "1" });
  expect(code, output).toBe(0);
  for (const part of parts) {
    if (typeof part === "string") expect(output).toContain(part);
    else expect(output).toMatch(part);
  }
});
