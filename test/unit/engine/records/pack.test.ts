import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apply, type Delta, diff, isReplacement, replacement } from "../../../../src/codec/delta/index.ts";
import { unwrapJson, wrapJson } from "../../../../src/codec/envelope.ts";
import type { Json } from "../../../../src/codec/json.ts";
import { encodePack } from "../../../../src/engine/records/pack/encode.ts";
import {
  decodeFrames,
  decodeNets,
  type Frame,
  netStretch,
  stepStretch,
} from "../../../../src/engine/records/pack/pack.ts";
import { decodeRows } from "../../../../src/engine/records/pack/rows.ts";
import type { Row } from "../../../../src/engine/records/row.ts";
import { addressedId } from "../../../../src/model/id.ts";
import { trees } from "../../codec/delta/trees.ts";

const TAPE = 12;

interface Drawn {
  readonly gap: number;
  readonly parent: number;
  readonly namespace: string;
  readonly tree: Json;
  readonly full: boolean;
  readonly addressed: boolean;
  readonly fields: Pick<Row, "step" | "source" | "node" | "run" | "workflow" | "label" | "stateVersion"> &
    Pick<Row, "metadata" | "pending" | "waiting" | "questions" | "tagged">;
}

const name = fc.option(fc.constantFrom("plan", "act", ""), { nil: null });
const drawn: fc.Arbitrary<Drawn> = fc.record({
  gap: fc.integer({ min: 1, max: 3 }),
  parent: fc.nat(100),
  namespace: fc.constantFrom("", "", '["a"]'),
  tree: trees,
  full: fc.boolean(),
  addressed: fc.boolean(),
  fields: fc.record({
    step: fc.integer({ min: -1, max: 9 }),
    source: fc.constantFrom("loop" as const, "input" as const, "fork" as const),
    node: name,
    run: name,
    workflow: name,
    label: fc.constantFrom("", "best"),
    stateVersion: fc.nat(2),
    metadata: trees,
    pending: fc.nat(2),
    waiting: fc.nat(2),
    questions: fc.option(fc.array(fc.constantFrom("q", "r"), { maxLength: 2 }), { nil: null }),
    tagged: fc.boolean(),
  }),
});

interface Committed extends Frame {
  readonly tree: Json;
}

/** Rows as a tape commits them: each on a row of its namespace or on none, its frame a delta or a full value. */
function commit(draws: readonly Drawn[]): Committed[] {
  const committed: Committed[] = [];
  let seq = 0;
  for (const [index, { gap, parent: pick, namespace, tree, full, addressed, fields }] of draws.entries()) {
    seq += gap;
    const earlier = committed.filter(({ row }) => row.namespace === namespace);
    const parent = pick % 5 === 0 ? earlier[pick % Math.max(earlier.length, 1)] : earlier.at(-1);
    const createdAt = 1_000 + index;
    const id = addressed ? (addressedId(createdAt, TAPE, seq) as string) : `own-${index}`;
    const base = parent?.row.seq ?? 0;
    const row: Row = { ...fields, seq, id, namespace, parent: base, base, createdAt };
    const change: Delta = parent && !full ? (diff(parent.tree, tree) ?? {}) : replacement(tree);
    committed.push({ row, change, tree });
  }
  return committed;
}

const histories = fc.array(drawn, { minLength: 1, maxLength: 12 }).map(commit);

function build(
  stretch: { readonly deltas: readonly Delta[]; readonly base: number },
  bases: ReadonlyMap<number, Json>,
): Json {
  let tree = bases.get(stretch.base) ?? null;
  for (const delta of stretch.deltas) tree = isReplacement(delta) ? (delta.r as Json) : apply(tree, delta);
  return tree;
}

describe("a pack", () => {
  it("a pack gives its rows back as they were, in order", () => {
    fc.assert(
      fc.property(histories, (frames) => {
        const pack = encodePack(TAPE, frames, "none");
        expect(decodeRows(TAPE, pack.rows)).toEqual(frames.map(({ row }) => row));
        expect(pack.last).toBe(frames.at(-1)?.row.seq);
      }),
      { numRuns: 500 },
    );
  });

  it("leads to the tree of every row by its single steps, and to the ends of chains by their net change", () => {
    fc.assert(
      fc.property(histories, (frames) => {
        const pack = encodePack(TAPE, frames, "none");
        const nets = decodeNets(pack.net);
        const seqs = frames.map(({ row }) => row.seq);
        const bodies = new Map(frames.map(({ row, tree }) => [row.seq, tree]));
        for (const { row, tree } of frames) {
          const stretch = stepStretch(nets, pack.steps, seqs, row.seq);
          expect(stretch && JSON.stringify(sorted(build(stretch, bodies)))).toBe(JSON.stringify(sorted(tree)));
          const net = netStretch(nets, row.seq);
          if (net) expect(JSON.stringify(sorted(build(net, bodies)))).toBe(JSON.stringify(sorted(tree)));
        }
      }),
      { numRuns: 500 },
    );
  });

  it("a pack gives back frames that lead from their bases to the same trees", () => {
    fc.assert(
      fc.property(histories, (frames) => {
        const pack = encodePack(TAPE, frames, "none");
        const bodies = new Map(frames.map(({ row, tree }) => [row.seq, tree]));
        const decoded = decodeFrames(decodeRows(TAPE, pack.rows), pack.net, pack.steps);
        expect(decoded.map(({ row }) => row)).toEqual(frames.map(({ row }) => row));
        for (const { row, change } of decoded) {
          const tree = build({ deltas: [change], base: row.base }, bodies);
          expect(JSON.stringify(sorted(tree))).toBe(JSON.stringify(sorted(bodies.get(row.seq) as Json)));
        }
      }),
      { numRuns: 500 },
    );
  });

  it("a pack is CORRUPT where its records are of different packs", () => {
    const frames = commit([1, 2, 3].map((tree) => ({ ...sample, tree })));
    const [long, short] = [encodePack(TAPE, frames, "none"), encodePack(TAPE, frames.slice(0, 2), "none")];
    const rows = decodeRows(TAPE, long.rows);
    expect(() => decodeFrames(rows, short.net, short.steps)).toThrowError(expect.objectContaining({ code: "CORRUPT" }));
    expect(stepStretch(decodeNets(short.net), short.steps, [1, 2], 3)).toBeUndefined();
  });

  it("a pack is CORRUPT where a column is too short, or a count is not believable", () => {
    const { rows } = encodePack(TAPE, commit([1, 2, 3].map((tree) => ({ ...sample, tree }))), "none");
    const packed = unwrapJson(rows) as { count: number; columns: { [name: string]: Json } };
    const corrupt = expect.objectContaining({ code: "CORRUPT" });
    for (const damaged of [
      { ...packed, columns: { ...packed.columns, step: [1] } },
      { ...packed, columns: { ...packed.columns, id: [1, 2, 3] } },
      { ...packed, count: 2 ** 40 },
    ]) {
      expect(() => decodeRows(TAPE, wrapJson(damaged))).toThrowError(corrupt);
    }
  });
});

const sample: Drawn = {
  gap: 1,
  parent: 1,
  namespace: "",
  tree: null,
  full: false,
  addressed: true,
  fields: {
    step: 0,
    source: "loop",
    node: null,
    run: null,
    workflow: null,
    label: "",
    stateVersion: 0,
    metadata: null,
    pending: 0,
    waiting: 0,
    questions: null,
    tagged: false,
  },
};

/** Deltas do not keep the order of keys; everything else of a tree counts. */
function sorted(tree: Json): Json {
  if (Array.isArray(tree)) return tree.map(sorted);
  if (tree === null || typeof tree !== "object") return tree;
  return Object.keys(tree)
    .sort()
    .map((key) => [key, sorted(tree[key] as Json)]);
}
