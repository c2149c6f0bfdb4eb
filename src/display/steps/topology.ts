import type { Metadata } from "../../model/checkpoint.ts";
import { END, START } from "../../model/interface/topology.ts";
import { isPlainObject } from "../../platform/plain-objects.ts";
import { type Fields, own } from "../values/records.ts";

/** A workflow to be drawn: its nodes, and the edges between them, the start and the end. */
export interface GraphPicture {
  readonly nodes: readonly string[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly sometimes: boolean }[];
}

/**
 * Returns the picture that the runtime kept with a checkpoint, of the graph that runs in a namespace; undefined if there is none. A
 * namespace names a node and a task in turn.
 */
export function pictureIn(metadata: Metadata, namespace: readonly string[]): GraphPicture | undefined {
  const flow = own(metadata, "flow");
  let graph = isPlainObject(flow) ? own(flow, "graph") : undefined;
  for (let level = 0; level < namespace.length; level += 2) {
    const nested = isPlainObject(graph) ? own(graph, "nested") : undefined;
    graph = isPlainObject(nested) ? own(nested, namespace[level]!) : undefined;
  }
  return isPlainObject(graph) ? fromTopology(graph) : undefined;
}

/** Reads a topology as a stranger's: metadata may hold anything. */
function fromTopology(graph: Fields): GraphPicture | undefined {
  const [nodes, edges] = [own(graph, "nodes"), own(graph, "edges")];
  if (!Array.isArray(nodes) || !Array.isArray(edges) || !nodes.every((name) => typeof name === "string"))
    return undefined;
  const names = [START, ...(nodes as string[]), END];
  return {
    nodes: nodes as string[],
    edges: edges.flatMap((edge: unknown) => {
      if (!Array.isArray(edge)) return [];
      const [from, to] = [names[Number(edge[0])], names[Number(edge[1])]];
      return from === undefined || to === undefined ? [] : [{ from, to, sometimes: edge[2] === 1 }];
    }),
  };
}
