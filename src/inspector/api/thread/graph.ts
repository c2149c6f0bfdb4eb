import { notedTasks, type Ran, ranIn } from "../../../display/steps/step-name.ts";
import { type GraphPicture, pictureIn } from "../../../display/steps/topology.ts";
import type { CheckpointInfo } from "../../../model/checkpoint.ts";
import { END, START } from "../../../model/interface/topology.ts";
import type { Timeline } from "../../caches/timelines.ts";
import type { GraphFacts } from "../answers.ts";
import { type ApiContext, type Handler, noSuchThread, threadOf } from "../api-context.ts";

/** Steps whose parents are read to learn which nodes ran, where the step itself does not say. */
const MOST_ASKED = 60;
const PATIENCE = 400;

interface Edge {
  readonly from: string;
  readonly to: string;
  count: number;
  readonly sometimes: boolean;
}

/**
 * Returns the workflow as a picture: nodes with counts and median durations, edges with how often they were taken, and what runs
 * next. Drawn from the compiled graph where that is known; the history adds what it has seen besides.
 */
export const threadGraph: Handler<GraphFacts> = async (context, parameters) => {
  const thread = threadOf(context, parameters);
  parameters.end();
  const timeline = await context.timelines.of(thread.id, thread.namespace);
  const { rows, positions } = timeline;
  const head = rows[0];
  if (head === undefined) throw noSuchThread(thread.id);
  const parentOf = (row: CheckpointInfo): CheckpointInfo | undefined =>
    row.parent === null ? undefined : rows[positions.get(row.parent) ?? -1];
  const ran = await ranOf(context, timeline, parentOf);
  const { next } = await context.states.get(thread, head.id);

  const durations = new Map<string, number[]>();
  const counts = new Map<string, number>();
  for (const row of rows) {
    const parent = parentOf(row);
    const noted = new Map<string, number[]>();
    for (const [name, , took] of notedTasks(row)) noted.set(name, [...(noted.get(name) ?? []), took]);
    for (const [name, count] of ran(row)) {
      counts.set(name, (counts.get(name) ?? 0) + count);
      const step = parent === undefined ? [] : [row.createdAt - parent.createdAt];
      const known = durations.get(name) ?? [];
      known.push(...(noted.get(name) ?? step));
      durations.set(name, known);
    }
  }
  const { from: drawnFrom, picture } = await compiledPicture(context, timeline, thread.namespace, [...counts.keys()]);
  const nodes = new Set([...(picture?.nodes ?? []), ...counts.keys()]);
  const edges = new Edges(picture);

  /** Returns the nodes that ran before a step, past edits; the start for an input. */
  const before = (row: CheckpointInfo | undefined): readonly string[] => {
    let here = row;
    while (here !== undefined && here.source !== "input" && ran(here).length === 0) here = parentOf(here);
    const names = here === undefined || here.source === "input" ? [] : ran(here).map(([name]) => name);
    return names.length === 0 ? [START] : names;
  };
  for (const row of rows) edges.pass(before(parentOf(row)), ran(row));
  const ahead = next.filter(({ node }) => node !== START).map(({ node }): Ran => [node, 1]);
  for (const [name] of ahead) nodes.add(name);
  edges.foresee(before(head), ahead);
  if (next.length === 0)
    edges.pass(
      before(head).filter((name) => name !== START),
      [[END, 1]],
    );
  const last = ran(head).at(-1)?.[0] ?? null;
  return {
    nodes: [...nodes].map((name) => ({
      name,
      count: counts.get(name) ?? 0,
      median: median(durations.get(name) ?? []),
    })),
    edges: edges.list(),
    drawnFrom,
    current: [...new Set(next.map(({ node }) => node))],
    last,
    checkpoints: rows.length,
  };
};

/** The edges of a picture, and how often each was taken. */
class Edges {
  readonly #edges = new Map<string, Edge>();
  readonly #isCompiled: boolean;

  constructor(picture: GraphPicture | undefined) {
    this.#isCompiled = picture !== undefined;
    for (const { from, to, sometimes } of picture?.edges ?? [])
      this.#edges.set(JSON.stringify([from, to]), { from, to, count: 0, sometimes });
  }

  /** Counts the ways from the nodes of a step to those of the next. Of several, the compiled graph knows which are ways at all. */
  pass(from: readonly string[], to: readonly Ran[]): void {
    for (const [name, count] of to) {
      const known = this.#isCompiled ? from.filter((source) => this.#edges.has(JSON.stringify([source, name]))) : from;
      for (const source of known.length > 0 ? known : from) this.#edge(source, name).count += count;
    }
  }

  /** Draws the ways to nodes that have not run yet. */
  foresee(from: readonly string[], to: readonly Ran[]): void {
    for (const [name] of to) {
      const isDrawn = [...this.#edges.values()].some((edge) => edge.to === name);
      if (!isDrawn) for (const source of from) this.#edge(source, name);
    }
  }

  list(): readonly Edge[] {
    return [...this.#edges.values()];
  }

  #edge(from: string, to: string): Edge {
    const key = JSON.stringify([from, to]);
    const edge = this.#edges.get(key) ?? { from, to, count: 0, sometimes: false };
    this.#edges.set(key, edge);
    return edge;
  }
}

/** Returns a function that says which nodes ran in a step, and in which number. */
async function ranOf(
  context: ApiContext,
  { rows }: Timeline,
  parentOf: (row: CheckpointInfo) => CheckpointInfo | undefined,
): Promise<(row: CheckpointInfo) => readonly Ran[]> {
  const unnamed = rows.filter(
    (row) => row.source === "loop" && (row.node === null || (parentOf(row)?.pending ?? 0) > 1),
  );
  await context.summaries.make(unnamed.slice(0, MOST_ASKED), PATIENCE);
  return (row) =>
    (context.summaries.get(row)?.ran ?? ranIn(row, undefined)).filter(
      ([name]) => name !== "start" || row.node === name,
    );
}

interface Compiled {
  readonly from: "compiled" | "app" | "history";
  readonly picture: GraphPicture | undefined;
}

/** Finds the compiled graph: as the thread keeps it, or as the application exports it with all nodes that have run. */
async function compiledPicture(
  { timelines, runs }: ApiContext,
  timeline: Timeline,
  namespace: readonly string[],
  seen: readonly string[],
): Promise<Compiled> {
  const thread = timeline.rows[0]!.thread;
  const root = namespace.length === 0 ? timeline : await timelines.of(thread, []);
  for (const { metadata } of root.rows) {
    const picture = pictureIn(metadata, namespace);
    if (picture !== undefined) return { from: "compiled", picture };
  }
  const pictures = namespace.length === 0 ? ((await runs?.pictures()) ?? []) : [];
  const fitting = pictures.find(({ nodes }) => seen.length > 0 && seen.every((name) => nodes.includes(name)));
  return fitting === undefined ? { from: "history", picture: undefined } : { from: "app", picture: fitting };
}

function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
