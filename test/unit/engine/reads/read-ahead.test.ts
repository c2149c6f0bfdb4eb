import { expect, it } from "vitest";
import type { Read } from "../../../../src/backend.ts";
import { memory } from "../../../../src/backends/memory/index.ts";
import { createValueCodec } from "../../../../src/codec/values/value.ts";
import { EngineContext } from "../../../../src/engine/memory/context.ts";
import { aheadOfHead, aheadOfHistory, aheadOfId } from "../../../../src/engine/reads/read-ahead.ts";
import { addressedId } from "../../../../src/model/id.ts";
import { forwarding } from "../../../../src/testing/index.ts";

const tape = 7;

/** Returns the context of a store on a backend whose reads are round trips, or are not. Packs have four rows. */
function contextOn(distant: boolean): EngineContext {
  const inner = memory();
  return new EngineContext({
    backend: forwarding(inner, { capabilities: { ...inner.capabilities, distant } }),
    codec: createValueCodec(),
    clock: () => 0,
    ids: undefined,
    cacheBytes: 2 ** 20,
    compression: "none",
    packRows: 4,
  });
}

/** Returns the tables that are scanned, with the number of packs that are asked for. */
const scansOf = (reads: readonly Read[]): unknown[] =>
  reads.map((read) => ("scan" in read ? [read.scan.table, read.limit] : read));

it("nothing of a tape that is not remembered is read ahead where a read is no round trip", () => {
  const context = contextOn(false);
  const id = addressedId(5, tape, 9) as string;
  for (const ahead of [aheadOfHead(context, ""), aheadOfId(context, id), aheadOfHistory(context, undefined, 10)]) {
    expect(ahead.reads(tape, tape, undefined)).toEqual([]);
  }
});

it("the newest nets and rows are read ahead for the head of a thread that is not remembered", () => {
  const reads = aheadOfHead(contextOn(true), "").reads(tape, tape, undefined);
  expect(scansOf(reads)).toEqual([
    ["net", 16],
    ["rows", 1],
  ]);
});

it("nothing is read ahead for the head of a nested namespace of a thread that is not remembered", () => {
  expect(aheadOfHead(contextOn(true), "nested").reads(tape, tape, undefined)).toEqual([]);
});

it("an id is looked for ahead only on the tape that it names", () => {
  const context = contextOn(true);
  const id = addressedId(5, tape, 9) as string;
  expect(aheadOfId(context, id).reads(tape, tape, undefined).length).toBeGreaterThan(0);
  expect(aheadOfId(context, id).reads(8, 8, undefined)).toEqual([]);
  expect(aheadOfId(context, "an id of the caller's").reads(tape, tape, undefined)).toEqual([]);
});

it("the writes of a checkpoint are read ahead beside it, also under an id of the caller's making", () => {
  const context = contextOn(false);
  const reads = aheadOfId(context, "mine", "").reads(tape, tape, undefined);
  expect(reads).toHaveLength(1);
});

it("a page of history is read ahead by packs, sixteen at most", () => {
  const context = contextOn(true);
  const packs = (limit: number): unknown[] =>
    scansOf(aheadOfHistory(context, undefined, limit).reads(tape, tape, undefined));
  // The parent of the last row is shown too, and the first pack may hold few rows of the page.
  expect(packs(3)).toEqual([["rows", 2]]);
  expect(packs(4)).toEqual([["rows", 3]]);
  expect(packs(10_000)).toEqual([["rows", 16]]);
});

it("a page of history before a checkpoint is read ahead from the pack that holds it", () => {
  const context = contextOn(true);
  const reads = aheadOfHistory(context, addressedId(5, tape, 9), 3).reads(tape, tape, undefined);
  expect(reads).toMatchObject([
    { scan: { table: "rows", from: 8 }, limit: 1 },
    { scan: { table: "rows", to: 8 }, reverse: true, limit: 2 },
  ]);
});
