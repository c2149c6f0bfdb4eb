import { expect, test } from "vitest";
import type { Json } from "../../../../src/codec/json.ts";
import { createValueCodec } from "../../../../src/codec/values/value.ts";
import type { CapturedUpdate } from "../../../../src/engine/changes/put/capture.ts";
import { updateDelta } from "../../../../src/engine/changes/put/update.ts";

const nothing: CapturedUpdate = { append: [], set: {}, grown: [], unset: [], patch: [] };
const note = "A note that is long enough to be worth comparing, and stays as it is from step to step. ".repeat(2);

/** A list that may be entered by index and asked for its length, but not walked. */
function guarded(length: number): Json[] {
  const elements = Array.from({ length }, (_, id) => ({ id }));
  let looks = 0;
  return new Proxy(elements as Json[], {
    get(target, key, receiver) {
      looks += 1;
      if (looks > 20) throw new Error("the list was walked");
      return Reflect.get(target, key, receiver);
    },
  });
}

function changeOf(state: Json, update: Partial<CapturedUpdate>, outlined = false): ReturnType<typeof updateDelta> {
  return updateDelta(createValueCodec(), state, { ...nothing, ...update }, { outlined });
}

test("every kind of update is planned without a walk of the lists that it does not set", () => {
  const state = (): { [key: string]: Json } => ({
    messages: guarded(10_000),
    scratch: { note, n: 1 },
    todo: [note, "a"],
    plan: { steps: guarded(10_000) },
  });
  expect(changeOf(state(), { set: { scratch: { note, n: 2 }, todo: [note, "b"] }, unset: ["gone"] }).delta).toEqual({
    u: ["gone"],
    d: { scratch: { s: { n: 2 } }, todo: { l: 2, x: [[1, 1, "b"]] } },
  });
  expect(changeOf(state(), { append: [["messages", ["x"]]] }).delta).toEqual({ d: { messages: { p: ["x"] } } });
  const patch = [
    { path: ["plan", "steps", 9_999, "id"], value: 5 },
    { path: ["messages", 10_000], value: "x" },
  ];
  expect(changeOf(state(), { patch })).toEqual({
    delta: {
      d: { plan: { d: { steps: { l: 10_000, e: [[9_999, { s: { id: 5 } }]] } } }, messages: { p: ["x"] } },
    },
    tagged: false,
    grown: 1,
    written: 5,
  });
});

test("an object that is set as it was is not written, and a small one is written whole", () => {
  expect(changeOf({ a: { note }, b: 1 }, { set: { a: { note } } }).delta).toEqual({});
  expect(changeOf({ a: { n: 1, m: 2 } }, { set: { a: { n: 1, m: 3 } } }).delta).toEqual({ s: { a: { n: 1, m: 3 } } });
});

test("on an outline every value is written whole, and the growth is unknown where a long one goes", () => {
  const outline = { a: {}, text: " ".repeat(201), n: 1 };
  expect(changeOf(outline, { set: { a: { note } } }, true)).toMatchObject({ delta: { s: { a: { note } } } });
  expect(changeOf(outline, { set: { a: { note } } }, true).grown).toBeUndefined();
  expect(changeOf(outline, { unset: ["text"] }, true).grown).toBeUndefined();
  expect(changeOf(outline, { set: { n: 20 } }, true).grown).toBe(1);
});

test("a value deep enough to be replaced gives a change that a reader follows", () => {
  const nested = (depth: number, end: number): Json =>
    depth === 0 ? { note, end } : { note, in: nested(depth - 1, end) };
  const { delta } = changeOf({ a: nested(400, 1) }, { set: { a: nested(400, 2) } });
  const depthOf = (node: unknown): number =>
    typeof node === "object" && node !== null && "d" in node
      ? 1 + depthOf(Object.values((node as { d: object }).d)[0])
      : 0;
  expect(depthOf(delta)).toBeLessThan(256);
});
