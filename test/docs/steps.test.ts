import { describe, expect, it } from "vitest";
import { stepsOf } from "./steps.ts";

const page = (...lines: string[]): string => lines.join("\n");

describe("a page's steps", () => {
  it("the steps of a page keep each line's number, so that an error points into the page", () => {
    const [step] = stepsOf(page("# Title", "", "```ts", 'import "node:fs";', "```", "and", "```ts", "one;", "```"));
    expect(step?.code.split("\n")[3]).toBe('import "node:fs";');
    expect(step?.code.split("\n")[7]).toBe("one;");
  });

  it("the steps of a page join a block without an import to the program above it, and start anew at an import", () => {
    const steps = stepsOf(page("```ts", "import 1", "```", "```ts", "two", "```", "```ts", "import 3", "```"));
    expect(steps.map((step) => step.line)).toEqual([2, 8]);
  });

  it("the steps of a page run a diff as it reads afterwards, each line where it was", () => {
    const [step] = stepsOf(page("```diff", " import 1", "-before", "+after", " same", "```"));
    expect([step?.kind, step?.code.split("\n")]).toEqual(["js", ["", "import 1", "", "after", "same"]]);
  });

  it("the steps of a page read blocks indented in a list", () => {
    expect(stepsOf(page("- so:", "  ```sh", "  threadmark threads", "  ```"))[0]?.code).toBe("threadmark threads");
  });

  it("the steps of a page leave out only the scripts that install", () => {
    const steps = stepsOf(page("```sh", "npm install threadmark", "```", "```sh", "threadmark threads | jq .", "```"));
    expect(steps.map((step) => step.code)).toEqual(["threadmark threads | jq ."]);
  });

  it.each([
    ["```ts no-run", "every such block is run as it is"],
    ["```typescript", "typescript is not one of"],
    ["```", "names no language"],
  ])("refuse %s, so that no block goes unrun", (fence, message) => {
    expect(() => stepsOf(page(fence, "code", "```"))).toThrow(message);
  });
});
