import { END, START } from "../../../model/interface/topology.ts";
import type { GraphFacts } from "../../api/answers.ts";

export interface PlacedNode {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface PlacedEdge {
  readonly from: string;
  readonly to: string;
  readonly count: number;
  readonly sometimes: boolean;
  readonly path: string;
  /** Where the count is written. */
  readonly x: number;
  readonly y: number;
}

const WIDTH = 150;
const HEIGHT = 44;
const GAP = { x: 28, y: 40 } as const;
const MARGIN = 36;

/** Places the nodes of a graph in rows, each below all nodes that lead to it first, and draws the edges as curves. */
export function layOut({ nodes, edges }: Pick<GraphFacts, "nodes" | "edges">): {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly width: number;
  readonly height: number;
} {
  const names = [...new Set([START, ...nodes.map(({ name }) => name), ...edges.map(({ to }) => to)])];
  const ranks = rankNodes(names, edges);
  const rows: string[][] = [];
  for (const name of names) {
    const rank = ranks.get(name) ?? 0;
    rows[rank] = [...(rows[rank] ?? []), name];
  }
  const widest = Math.max(...rows.map((row) => row?.length ?? 0));
  const width = widest * (WIDTH + GAP.x) - GAP.x + 2 * MARGIN;
  const placed = new Map<string, PlacedNode>();
  let y = 8;
  for (const row of rows) {
    if (row === undefined) continue;
    const isEnd = row.every((name) => name === START || name === END);
    const height = isEnd ? 26 : HEIGHT;
    const all = row.length * (WIDTH + GAP.x) - GAP.x;
    for (const [index, name] of row.entries()) {
      const wide = isEnd ? 64 : WIDTH;
      const x = (width - all) / 2 + index * (WIDTH + GAP.x) + (WIDTH - wide) / 2;
      placed.set(name, { name, x, y, width: wide, height });
    }
    y += height + GAP.y;
  }
  return {
    nodes: [...placed.values()],
    edges: edges.map((edge) => ({ ...edge, ...curve(placed.get(edge.from)!, placed.get(edge.to)!) })),
    width,
    height: y - GAP.y + 12,
  };
}

/** Gives each node the length of the longest way to it, without going in circles. */
function rankNodes(names: readonly string[], edges: GraphFacts["edges"]): ReadonlyMap<string, number> {
  const followers = new Map<string, string[]>();
  for (const { from, to } of edges) if (from !== to) followers.set(from, [...(followers.get(from) ?? []), to]);
  const back = new Set<string>();
  const state = new Map<string, "open" | "done">();
  const visit = (name: string): void => {
    state.set(name, "open");
    for (const next of followers.get(name) ?? []) {
      if (state.get(next) === "open") back.add(`${name}\u0000${next}`);
      else if (!state.has(next)) visit(next);
    }
    state.set(name, "done");
  };
  for (const name of names) if (!state.has(name)) visit(name);
  const ranks = new Map(names.map((name) => [name, 0]));
  for (let round = 0, changed = true; changed && round <= names.length; round += 1) {
    changed = false;
    for (const { from, to } of edges) {
      if (from === to || back.has(`${from}\u0000${to}`)) continue;
      const rank = (ranks.get(from) ?? 0) + 1;
      if (rank > (ranks.get(to) ?? 0)) {
        ranks.set(to, rank);
        changed = true;
      }
    }
  }
  // The end is below everything else.
  const others = [...ranks].filter(([name]) => name !== END).map(([, rank]) => rank);
  if (ranks.has(END)) ranks.set(END, Math.max(0, ...others) + 1);
  return ranks;
}

function curve(from: PlacedNode, to: PlacedNode): { readonly path: string; readonly x: number; readonly y: number } {
  const [fx, tx] = [from.x + from.width / 2, to.x + to.width / 2];
  if (from === to) {
    const [x, y] = [from.x + from.width, from.y + from.height / 2];
    return { path: `M${x} ${y - 10}C${x + 30} ${y - 22} ${x + 30} ${y + 22} ${x} ${y + 10}`, x: x + 26, y: y + 4 };
  }
  if (to.y > from.y) {
    const [y1, y2] = [from.y + from.height, to.y];
    const isLong = y2 - y1 > GAP.y + 4 && Math.abs(fx - tx) < 10;
    if (isLong) {
      const side = from.x + from.width + 14;
      return {
        path: `M${from.x + from.width} ${from.y + from.height / 2}C${side + 10} ${from.y + from.height / 2} ${side + 10} ${to.y + to.height / 2} ${to.x + to.width} ${to.y + to.height / 2}`,
        x: side + 8,
        y: (y1 + y2) / 2,
      };
    }
    const bend = (y2 - y1) / 2;
    return {
      path: `M${fx} ${y1}C${fx} ${y1 + bend} ${tx} ${y2 - bend} ${tx} ${y2}`,
      x: (fx + tx) / 2 + 8,
      y: (y1 + y2) / 2 + 4,
    };
  }
  // Back up, around the left side.
  const [y1, y2] = [from.y + from.height / 2, to.y + to.height / 2];
  const side = Math.min(from.x, to.x) - 26;
  return { path: `M${from.x} ${y1}C${side} ${y1} ${side} ${y2} ${to.x} ${y2}`, x: side + 2, y: (y1 + y2) / 2 + 4 };
}
