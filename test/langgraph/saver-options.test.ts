import { expect, it } from "vitest";
import { open } from "../../src/index.ts";
import { ThreadmarkSaver } from "../../src/langgraph/index.ts";

it("changesInPlace is true or false", () => {
  expect(() => new ThreadmarkSaver({} as never, { changesInPlace: "no" as never })).toThrow(TypeError);
});

it.each([
  ["new ThreadmarkSaver", { exclusiv: true }],
  ["new ThreadmarkSaver with exclusive", { exclusive: { tll: 1 } }],
])("an unknown option of %s is a TypeError that names the nearest known one", async (_, options) => {
  const store = await open("memory:");
  expect(() => new ThreadmarkSaver(store, options as never)).toThrow(
    /unknown key "(exclusiv|tll)"; did you mean "(exclusive|ttl)"/,
  );
});

it("an unknown option of ThreadmarkSaver.open is a TypeError", async () => {
  await expect(ThreadmarkSaver.open("memory:", { exclusiv: true } as never)).rejects.toThrow(/unknown key "exclusiv"/);
});
