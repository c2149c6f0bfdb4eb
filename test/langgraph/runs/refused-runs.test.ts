import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const program = fileURLToPath(new URL("../support/refused-runs.ts", import.meta.url));

interface Answer {
  readonly durability: string;
  readonly name: string;
  readonly way: string;
  readonly refused: { readonly code?: string; readonly message?: string };
  readonly again: object;
  readonly stored: boolean;
}

/** The channels that a refusal names. Nested graphs, tasks and inputs have channels of LangGraph's own. */
const channels: Readonly<Record<string, RegExp>> = {
  "a value": /^Channel "value" .*: value\.call: a function/,
  "a value in parallel": /^Channel "value" /,
  "a value of a nested graph": /^Channel "value" /,
  "a question": /^Channel "__interrupt__" /,
  "a value that a reducer makes": /^Channel "made" /,
  "a value that a reducer makes in the last step": /^Channel "made" /,
  "a value that a reducer makes before a breakpoint": /^Channel "made" /,
  "a value that a reducer makes in a nested graph": /^Channel "made" /,
  "a value that a reducer makes in the last step of a nested graph": /^Channel "made" /,
  "the input": /^Channel "(?:__start__|value)" /,
  "a result of a task": /^Channel "(?:__return__|__end__)" /,
};

it("a run whose saver refuses something rejects, and never ends the process: values in every durability, nested or streamed, and a store that is lost", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [program, "memory:"]);
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Answer);
  expect(answers.pop()).toEqual({ done: true });
  const lost = answers.splice(-3);
  expect(answers).toHaveLength(3 * 2 * Object.keys(channels).length);
  for (const { durability, name, way, refused, again, stored } of answers) {
    const what = `${name}, ${durability}, ${way}`;
    expect([refused.code, refused.message], what).toEqual([
      "SERIALIZE",
      expect.stringMatching(channels[name] as RegExp),
    ]);
    // The thread goes on, from before what was refused.
    expect([again, stored], what).toEqual([{}, true]);
  }
  for (const { name, refused } of lost) expect(refused.code).toBe(name);
  expect(lost.map(({ again }) => again)).toEqual([{}, expect.objectContaining({ code: "CLOSED" }), {}]);
}, 240_000);
