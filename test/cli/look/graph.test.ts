import { expect, test } from "vitest";
import { drawGraph } from "../../../src/cli/output/graph.ts";
import { shortIds } from "../../../src/cli/output/short-ids.ts";

function drawn(nodes: readonly (readonly [id: string, parent: string | null])[]): string[] {
  const rows = drawGraph(nodes.map(([id, parent]) => ({ id, parent })));
  return rows.flatMap(({ graph, joins }, index) => [
    ...(joins === undefined ? [] : [joins]),
    `${graph} ${nodes[index]?.[0]}`,
  ]);
}

test("a line of checkpoints is one lane that begins with its head", () => {
  expect(
    drawn([
      ["c", "b"],
      ["b", "a"],
      ["a", null],
    ]),
  ).toEqual(["● c", "○ b", "○ a"]);
});

test("branches of one checkpoint join above it", () => {
  expect(
    drawn([
      ["e", "b"],
      ["d", "b"],
      ["c", "b"],
      ["b", "a"],
      ["a", null],
    ]),
  ).toEqual(["● e", "│ ● d", "│ │ ● c", "├─┴─╯", "○ b", "○ a"]);
});

test("a lane that ended is used again, and lanes in between are crossed", () => {
  expect(
    drawn([
      ["f", "a"],
      ["e", "c"],
      ["d", "a"],
      ["c", null],
      ["b", "a"],
      ["a", null],
    ]),
  ).toEqual(["● f", "│ ● e", "│ │ ● d", "│ ○ │ c", "│ ● │ b", "├─┴─╯", "○ a"]);
});

test("a parent that is not listed ends its lane", () => {
  expect(drawn([["b", "gone"]])).toEqual(["● b"]);
});

test("short ids are the shorter of a unique beginning and a unique end, six characters at least", () => {
  const ends = ["01977420-dc00-7000-8827-93dd800000cc", "01977420-dc00-7000-8827-93dd800000cd"];
  expect(ends.map(shortIds(ends))).toEqual(["0000cc", "0000cd"]);
  const starts = ["aaaaaa11-same-end", "aaaaaa22-same-end"];
  expect(starts.map(shortIds(starts))).toEqual(["aaaaaa1", "aaaaaa2"]);
  expect(["a", "b"].map(shortIds(["a", "b"]))).toEqual(["a", "b"]);
});
