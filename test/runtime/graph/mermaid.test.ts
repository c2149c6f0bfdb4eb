import { expect, test } from "vitest";
import { END, graph, START } from "../../../src/runtime/index.ts";

const nothing = (): undefined => undefined;

test("a graph is drawn as Mermaid text with solid edges, named joins, dotted branches and gotos, and nested graphs inside", () => {
  const inner = graph<object>("inner").node("deep", nothing).edge(START, "deep").edge("deep", END);
  const flow = graph<object>("w")
    .node("plan", nothing)
    .node('say "hi" <b>', nothing, { goto: ["plan"] })
    .graph("sub", inner)
    .node("join", nothing)
    .edge(START, "plan")
    .branch("plan", () => END, ['say "hi" <b>', "sub", END])
    .edge(['say "hi" <b>', "sub"], "join")
    .edge("join", END)
    .compile();
  expect(flow.mermaid()).toBe(
    [
      "flowchart TD",
      '  n0(["start"])',
      '  n1["plan"]',
      '  n2["say #34;hi#34; #60;b#62;"]',
      '  subgraph n3["sub"]',
      '    n3_n0(["start"])',
      '    n3_n1["deep"]',
      '    n3_n2(["end"])',
      "    n3_n0 --> n3_n1",
      "    n3_n1 --> n3_n2",
      "  end",
      '  n4["join"]',
      '  n5(["end"])',
      "  n0 --> n1",
      "  n4 --> n5",
      "  n2 -->|join| n4",
      "  n3 -->|join| n4",
      "  n1 -.-> n2",
      "  n1 -.-> n3",
      "  n1 -.-> n5",
      "  n2 -.-> n1",
    ].join("\n"),
  );
});
