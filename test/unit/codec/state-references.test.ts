import fc from "fast-check";
import { expect, test } from "vitest";
import { apply, diff } from "../../../src/codec/delta/index.ts";
import type { Json } from "../../../src/codec/json.ts";
import { placesOf, refersToState, referToState, resolveInState } from "../../../src/codec/state-references.ts";

const text = fc.oneof(
  fc.constantFrom("a line of some length\n".repeat(3), "another line, which is as long\n".repeat(2)),
  fc.string({ maxLength: 60 }),
);
const { node } = fc.letrec<{ node: Json }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.array(tie("node"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__"), tie("node"), { maxKeys: 3 }),
  ) as fc.Arbitrary<Json>,
}));
const state = fc.dictionary(fc.constantFrom("files", "messages", "x", "__proto__"), node, { maxKeys: 4 });

test("a value that refers to a state is found again in it, whatever of the value the state has", () => {
  const property = fc.property(state, state, node, fc.boolean(), (before, after, other, known) => {
    const change = diff(before as Json, after as Json);
    const places = placesOf(change, known ? (after as Json) : undefined);
    const fields = Object.keys(after).map((key) => (after as { [key: string]: Json })[key] as Json);
    for (const value of [...fields, fields, { part: fields[0] ?? null, other }, other]) {
      const referring = referToState(value, places);
      expect(resolveInState(referring, apply(before as Json, change ?? {}))).toEqual(value);
    }
  });
  fc.assert(property, { numRuns: 500 });
});

test("a pushed message, an edited text and a message without its id are references", () => {
  const message = { id: "m1", text: "what was said ".repeat(10) };
  const file = "a line\n".repeat(30);
  const before = { messages: [{ id: "m0" }], files: { a: file } };
  const after = { messages: [{ id: "m0" }, message], files: { a: file.replace("line", "word") } };
  const places = placesOf(diff(before, after), after);
  const { id: _, ...bare } = message;
  for (const value of [[message], { a: after.files.a }, [bare]]) {
    const referring = referToState(value as Json, places);
    expect(JSON.stringify(referring).length).toBeLessThan(100);
    expect(refersToState(referring)).toBe(true);
    expect(resolveInState(referring, after)).toEqual(value);
  }
});

test("a value that stays as it is in the state is found by its name", () => {
  const file = "a line\n".repeat(30);
  const after = { files: { a: file, b: "x" } };
  const referring = referToState({ a: file }, [], { path: ["files"], value: after.files });
  expect(referring).toEqual({ a: { $: { $: "state", p: ["files", "a"] } } });
  expect(resolveInState(referring, after)).toEqual({ a: file });
});

test("a reference to nothing is CORRUPT", () => {
  const broken = { $: { $: "state", p: ["messages", -3] } } as unknown as Json;
  expect(() => resolveInState(broken, { messages: [1] })).toThrow(/does not have/);
});
