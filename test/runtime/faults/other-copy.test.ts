import { expect, test, vi } from "vitest";
import { open } from "../../../src/index.ts";

test("a store of another copy of the package is refused with what to do, by the runtime and by the saver", async () => {
  const store = await open("memory:");
  vi.resetModules();
  const { END, graph, START } = await import("../../../src/runtime/index.ts");
  const { ThreadmarkSaver } = await import("../../../src/langgraph/index.ts");
  const builder = graph("g")
    .node("a", () => ({}))
    .edge(START, "a")
    .edge("a", END);
  for (const use of [() => builder.compile({ store }), () => new ThreadmarkSaver(store)]) {
    expect(use).toThrow(TypeError);
    expect(use).toThrow(/another copy of threadmark.*npm ls threadmark/);
  }
});
