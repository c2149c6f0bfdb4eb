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
