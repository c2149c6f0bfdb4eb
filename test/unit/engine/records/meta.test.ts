import { expect, test } from "vitest";
import { wrapJson } from "../../../../src/codec/envelope.ts";
import { changeMeta, decodeMeta, encodeMeta, newMeta } from "../../../../src/engine/records/meta.ts";

const counts = { generation: 0, sealed: 0, rootSealed: 0, rootFull: 0, floor: 0, rewrites: 0, removed: 0, epoch: 0 };

test("a meta record leaves out counts that are zero, and reads back with them", () => {
  const meta = newMeta("user-42", 1_750_000_000_000, 0);
  const value = encodeMeta(meta) as string;
  for (const name of Object.keys(counts)) expect(value).not.toContain(name);
  expect(decodeMeta(value)).toEqual({ version: 1, thread: "user-42", createdAt: 1_750_000_000_000, ...counts });
});

test("a meta record keeps counts that are not zero", () => {
  const meta = changeMeta(newMeta("user-42", 7, 3), { sealed: 64, rootSealed: 63, removed: 2, attributes: { n: 0 } });
  expect(decodeMeta(encodeMeta(meta))).toEqual(meta);
});

test("a meta record with zeros, as earlier versions wrote it, reads the same", () => {
  const record = { version: 5, thread: "user-42", createdAt: 7, ...counts, sealed: 64 };
  expect(decodeMeta(wrapJson(record))).toEqual(record);
});

const began = 1_750_000_000_123;

test.each([
  { s: "d", t: 1_750_000_000_100 },
  { s: "w", t: 1_750_000_000_100, w: "" },
  { s: "p", t: 1_749_999_999_900, w: "a workflow" },
  { s: "f", t: 1_850_000_000_000, w: "chat", nested: true },
  { s: "c", t: 0 },
] as const)("the index %j in a meta record reads back, beside attributes or without", (index) => {
  const meta = changeMeta(newMeta("user-42", began, 0), { index });
  expect(decodeMeta(encodeMeta(meta))).toEqual(meta);
  const found = changeMeta(meta, { attributes: { tenant: "acme", open: false } });
  expect(decodeMeta(encodeMeta(found))).toEqual(found);
  const ended = changeMeta(decodeMeta(encodeMeta(found)), { index: undefined, attributes: undefined });
  expect(decodeMeta(encodeMeta(ended))).toEqual({ ...newMeta("user-42", began, 0), version: 4 });
});

test("the index and attributes of a thread take few bytes", () => {
  const meta = newMeta("user-42", began, 0);
  const found = { ...meta, index: { s: "d", t: 1_750_000_000_100, w: "chat" }, attributes: { n: 1 } } as const;
  expect((encodeMeta(found) as string).length - (encodeMeta(meta) as string).length).toBe(
    ',"i":["d chat",{"n":1}]'.length,
  );
});

test("an index as earlier versions wrote it reads the same", () => {
  const index = { s: "d", t: 1_750_000_000_123, w: "chat", r: "run-1" };
  const record = { ...newMeta("user-42", 7, 0), index, attributes: { n: 1 } };
  expect(decodeMeta(wrapJson(record))).toMatchObject({
    index: { s: "d", t: index.t, w: "chat" },
    attributes: { n: 1 },
  });
});
