/** The beginning of a run: `edge(START, "plan")`. */
export const START = "__start__";
/** The end of a run, or of one branch of it: `edge("answer", END)`. */
export const END = "__end__";

/**
 * A workflow as a picture, kept with the first checkpoint of a thread (in `metadata.flow.graph`). Edges name nodes by number: 0 is
 * the start, 1 the first of `nodes`, and the number after the last node is the end. A third number says that the edge is only
 * taken at times: a branch, or a goto that a node declares.
 */
export interface Topology {
  readonly nodes: readonly string[];
  readonly edges: readonly (readonly [from: number, to: number, sometimes?: 1])[];
  /** The graphs that are nodes of this one, by the node's name. */
  readonly nested?: Readonly<Record<string, Topology>>;
}

/** When a task of a parallel step ran: its node, how long before its checkpoint it began, and how long it took, in milliseconds. */
export type TaskTime = readonly [node: string, before: number, took: number];
