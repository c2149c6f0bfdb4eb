import { readFileSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import { codesOf, documentedCodes, errorFaults } from "../../../scripts/errors.ts";

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

describe("an error's message", () => {
  it("an error is at fault if it does not say what to do", () => {
    const source = 'throw new ThreadmarkError("BUSY", "The thread is busy.", { thread });';
    expect(errorFaults(source)).toMatchObject({ count: 1, faults: [{ line: 1 }] });
  });

  it.each([
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is a program.
    'new ThreadmarkError("BUSY", `Thread ${id} is busy. Try again.`)',
    'new RunError("ABORTED", "It was aborted; resume it.", {})',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is a program.
    'new ThreadmarkError("CORRUPT", `Thread ${thread}: ${error.message}`)',
    'const message = "Gone. See history().";\nreturn new ThreadmarkError("NOT_FOUND", message, { thread })',
  ])("an error is fine if it says what to do: %s", (source) => {
    expect(errorFaults(source)).toEqual({ count: 1, faults: [] });
  });

  it("a message behind a name is found in the declaration nearest before the call", () => {
    const source =
      'const message = "Try again.";\nconst message = "It is gone.";\nnew RunError("ABORTED", message, {})';
    expect(errorFaults(source).faults).toMatchObject([{ line: 3 }]);
  });
});

test("the page of errors has every code of the store and of the runtime, and no other", () => {
  const store = codesOf(read("src/errors.ts"), "ErrorCode");
  const runtime = codesOf(read("src/runtime/errors.ts"), "RunErrorCode");
  expect(store.length).toBeGreaterThan(12);
  expect(runtime.length).toBeGreaterThan(9);
  expect([...documentedCodes(read("docs/reference/errors.md"))].sort()).toEqual([...store, ...runtime].sort());
});
