import type { CheckpointInfo } from "../../../model/checkpoint.ts";
import { type Handler, noSuchThread, threadOf } from "../api-context.ts";

const START = "__start__";
const END = "__end__";

interface NodeFacts {
  count: number;
  readonly durations: number[];
}

/** Returns the workflow as its history shows it: nodes with counts and median durations, edges, and what runs next. */
export const threadGraph: Handler = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  parameters.end();
  const { rows, positions } = await context.timelines.of(thread.id, thread.namespace);
  const head = rows[0];
  if (head === undefined) throw noSuchThread(thread.id);
  const nodes = new Map<string, NodeFacts>();
  const edges = new Map<string, { from: string; to: string; count: number }>();
  /** Returns the node before a step, past edits; the start for an input. */
  const cameFrom = (before: CheckpointInfo | undefined): string => {
    let row = before;
    while (row !== undefined && row.source !== "input" && nameOf(row) === undefined)
      row = row.parent === null ? undefined : rows[positions.get(row.parent) ?? -1];
    return (row && nameOf(row)) ?? START;
  };
  const connect = (from: string, to: string): void => {
    const key = JSON.stringify([from, to]);
    const edge = edges.get(key) ?? { from, to, count: 0 };
    edge.count += 1;
    edges.set(key, edge);
  };
  for (const row of rows) {
    const name = nameOf(row);
    if (name === undefined) continue;
    const parent = row.parent === null ? undefined : rows[positions.get(row.parent) ?? -1];
    const facts = nodes.get(name) ?? { count: 0, durations: [] };
    facts.count += 1;
    if (parent !== undefined) facts.durations.push(row.createdAt - parent.createdAt);
    nodes.set(name, facts);
    connect(cameFrom(parent), name);
  }
  const { next } = await context.states.get(thread, head.id);
  const last = nameOf(head);
  for (const { node } of next) {
    if (node === START) continue;
    if (!nodes.has(node)) nodes.set(node, { count: 0, durations: [] });
    connect(cameFrom(head), node);
  }
  if (next.length === 0 && last !== undefined) connect(last, END);
  return {
    nodes: [...nodes].map(([name, { count, durations }]) => ({ name, count, median: median(durations) })),
    edges: [...edges.values()],
    current: [...new Set(next.map(({ node }) => node))],
    last: last ?? null,
    checkpoints: rows.length,
  };
};

/** Returns the node of a step; undefined for inputs and edits, which no node made. */
function nameOf({ node, source }: CheckpointInfo): string | undefined {
  return node === null || source === "input" ? undefined : node;
}

function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}

const MOST_SPANS = 1_000;

/** Returns the steps of a thread and of its nested graphs as spans on one axis of time, oldest first. */
export const threadTimes: Handler = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  parameters.end();
  const spans: {
    depth: number;
    namespace: readonly string[];
    id: string;
    name: string;
    step: number;
    from: number;
    to: number;
  }[] = [];
  const add = async (namespace: readonly string[], depth: number, limit: number): Promise<number> => {
    const { rows, positions } = await context.timelines.of(thread.id, namespace);
    for (const row of rows.slice(0, limit)) {
      const parent = row.parent === null ? undefined : rows[positions.get(row.parent) ?? -1];
      spans.push({
        depth,
        namespace,
        id: row.id,
        name: row.node ?? row.source,
        step: row.step,
        from: parent?.createdAt ?? row.createdAt,
        to: row.createdAt,
      });
    }
    return rows.length;
  };
  const total = await add(thread.namespace, 0, MOST_SPANS);
  if (total === 0) throw noSuchThread(thread.id);
  const graphs = await context.catalogue.graphs.of(thread.id);
  const inside = graphs.filter(
    ({ namespace }) =>
      namespace.length > thread.namespace.length && thread.namespace.every((part, index) => namespace[index] === part),
  );
  for (const { namespace } of inside.slice(-100)) {
    if (spans.length >= MOST_SPANS) break;
    await add(namespace, Math.ceil((namespace.length - thread.namespace.length) / 2), MOST_SPANS - spans.length);
  }
  spans.sort((left, right) => left.from - right.from || left.depth - right.depth || left.to - right.to);
  return { total, spans };
};
