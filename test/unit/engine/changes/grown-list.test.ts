import { expect, test } from "vitest";
import type { Json } from "../../../../src/codec/json.ts";
import { createValueCodec } from "../../../../src/codec/values/value.ts";
import { CapturedGrownList } from "../../../../src/engine/changes/put/grown-list.ts";
import { updateDelta } from "../../../../src/engine/changes/put/update.ts";
import { GrownList } from "../../../../src/model/interface/grown-list.ts";

const node = (id: number): Json => Object.freeze({ id, text: `node ${id}` }) as Json;
const start = [0, 1, 2, 3].map(node);

function captured(count: number, rest: readonly Json[]): CapturedGrownList {
  return new CapturedGrownList(new GrownList(start, count, rest), rest);
}

/** Returns the change that setting a list as `log` makes of a state. */
function changeOf(state: { [key: string]: Json }, list: CapturedGrownList): unknown {
  const update = { append: [], set: {}, grown: [["log", list]] as const, unset: [], patch: [] };
  return updateDelta(createValueCodec(), state, update).delta;
}

test("a list that begins with the nodes of the parent's is an append of the others", () => {
  expect(changeOf({ log: start.slice(0, 3) }, captured(4, ["new"]))).toEqual({ d: { log: { p: [start[3], "new"] } } });
  expect(changeOf({ log: [] }, captured(2, []))).toEqual({ d: { log: { p: start.slice(0, 2) } } });
});

test("a list with no more than the parent's nodes changes nothing", () => {
  expect(changeOf({ log: start.slice(0, 3) }, captured(3, []))).toEqual({});
});

test("a list is set as a whole where the parent has none", () => {
  expect(changeOf({}, captured(2, ["new"]))).toEqual({ s: { log: [start[0], start[1], "new"] } });
  expect(changeOf({ log: "text" }, captured(2, []))).toEqual({ s: { log: start.slice(0, 2) } });
});

test("a list is compared with the parent's where that has other nodes, or more", () => {
  const long = [...start, ...[4, 5, 6, 7].map(node)];
  const list = new CapturedGrownList(new GrownList(long, 8, []), []);
  const other = { id: 2, text: "another" };
  expect(changeOf({ log: long.with(2, other) }, list)).toEqual({ d: { log: { l: 8, x: [[2, 1, node(2)]] } } });
  expect(changeOf({ log: [...long, node(8)] }, list)).toEqual({ d: { log: { l: 9, x: [[8, 1]] } } });
});

test("equal nodes of the parent's list are replaced by those of the new one, in place", () => {
  const old: Json[] = [
    { id: 0, text: "node 0" },
    { id: 1, text: "node 1" },
  ];
  expect(captured(3, []).behind(old)).toEqual([start[2]]);
  expect(old[0]).toBe(start[0]);
  expect(old[1]).toBe(start[1]);
});

test("a frozen list stays as it is", () => {
  const old = Object.freeze([{ id: 0, text: "node 0" }]) as unknown as Json[];
  expect(captured(2, []).behind(old)).toBeUndefined();
});

test("a node that is equal but for the order of its keys is another", () => {
  expect(captured(2, []).behind([{ text: "node 0", id: 0 }])).toBeUndefined();
});
