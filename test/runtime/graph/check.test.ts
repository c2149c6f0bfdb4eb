import { describe, expect, test } from "vitest";
import { END, type Graph, graph, START } from "../../../src/runtime/index.ts";

interface State {
  n: number;
}

const nothing = (): undefined => undefined;
const base = (): Graph<State> => graph<State>("w").node("a", nothing).edge(START, "a");

const wrong: readonly [string, () => Graph<State>, string][] = [
  ["an unknown target", () => base().edge("a", "x"), 'the edge from "a" leads to "x"'],
  ["an unknown source", () => base().edge("a", END).edge("x", "a"), 'an edge starts at "x"'],
  ["an edge out of END", () => base().edge("a", END).edge(END, "a"), `an edge starts at "${END}"`],
  ["an edge into START", () => base().edge("a", START), `leads to "${START}"`],
  [
    "an unknown branch source",
    () =>
      base()
        .edge("a", END)
        .branch("x", () => END),
    'a branch starts at "x"',
  ],
  ["an unknown branch target", () => base().branch("a", () => END, ["x", END]), 'the branch of "a" leads to "x"'],
  [
    "an unknown goto",
    () => (graph<State>("w") as Graph<State>).node("a", nothing, { goto: ["x"] as string[] }).edge(START, "a"),
    'the goto of "a" leads to "x"',
  ],
  ["an unknown join source", () => base().edge("a", END).edge(["a", "x"], "a"), 'waits for "x"'],
  ["an unknown join target", () => base().edge("a", END).edge(["a"], "x"), 'the join of "a" leads to "x"'],
  ["a join of nothing", () => base().edge("a", END).edge([], "a"), 'the join at "a" waits for nothing'],
  ["a join that names a node twice", () => base().edge("a", END).edge(["a", "a"], "a"), 'names "a" twice'],
  ["joins that share a source", () => base().edge("a", END).edge(["a"], "a").edge(["a"], "a"), 'two joins at "a"'],
  ["a node nobody reaches", () => base().edge("a", END).node("b", nothing).edge("b", END), 'node "b" is never reached'],
  ["a node without a way to END", () => base().edge("a", "b").node("b", nothing), 'node "b" has no way to END'],
  [
    "a circle without a way to END",
    () => base().edge("a", "b").node("b", nothing).edge("b", "a"),
    'node "a" has no way to END',
  ],
  ["a duplicate name", () => base().edge("a", END).node("a", nothing), 'node "a" is defined more than once'],
  ["a reserved name", () => base().edge("a", END).node(END, nothing), `"${END}" is reserved`],
  ["an empty name", () => base().edge("a", END).node("", nothing), 'node name ""'],
  ["no nodes", () => graph<State>("w").edge(START, END), "it has no nodes"],
  ["no start", () => graph<State>("w").node("a", nothing).edge("a", END), "nothing starts it"],
];

describe("compile refuses", () => {
  test.each(wrong)("%s, and names it", (_, make, message) => {
    expect(() => make().compile()).toThrow(TypeError);
    expect(() => make().compile()).toThrow(message);
  });

  test("compile reports all faults of a graph in one message", () => {
    const make = (): unknown => base().edge("a", "x").edge("a", "y").node("a", nothing).compile();
    for (const part of ['"x"', '"y"', "more than once", 'Graph "w"']) expect(make).toThrow(part);
  });

  test("an argument that is no graph, node, reducer, branch or option is a TypeError", () => {
    expect(() => graph("")).toThrow(TypeError);
    expect(() => graph<State>("w").node("a", "b" as never)).toThrow(TypeError);
    expect(() => graph<State>("w").reduce({ n: 1 as never })).toThrow('reducer of "n"');
    expect(() => graph<State>("w").branch("a", END as never)).toThrow(TypeError);
    for (const options of [
      { retry: { attempts: 0 } },
      { retry: { attempts: 1.5 } },
      { retry: { attempts: 1, backoff: -1 } },
      { timeout: 0 },
      { timeout: 2 ** 31 },
      { goto: "x" as never },
    ]) {
      expect(() => graph<State>("w").node("a", nothing, options)).toThrow(TypeError);
    }
  });
});

describe("compile accepts", () => {
  test("a branch without declared targets, and a declared goto, count as ways to everything they may reach", () => {
    expect(() =>
      base()
        .branch("a", () => END)
        .node("b", nothing)
        .edge("b", END)
        .compile(),
    ).not.toThrow();
    const jumping = graph<State>("w")
      .node("a", nothing, { goto: ["b", END] })
      .edge(START, "a")
      .node("b", nothing, { goto: ["a"] });
    expect(() => jumping.compile()).not.toThrow();
  });

  test("an edge given twice counts once, and a compiled flow does not see later changes of its graph", async () => {
    const builder = base().edge("a", END).edge("a", END);
    const flow = builder.compile();
    builder.node("b", nothing);
    expect(() => builder.compile()).toThrow('"b" is never reached');
    expect((await flow.run({ n: 1 })).state).toEqual({ n: 1 });
  });
});
