import type { Topology } from "../../model/interface/topology.ts";
import { successors } from "./check.ts";
import { type Definition, isNested } from "./definition.ts";
import { END, START } from "./goto.ts";

/** Returns the graph as a picture has it. A branch that declares no targets leads nowhere here: the history shows where it went. */
export function topologyOf(definition: Definition): Topology {
  const names = [START, ...definition.nodes.keys(), END];
  const numbers = new Map(names.map((name, number) => [name, number]));
  const declared: Definition = {
    ...definition,
    branches: new Map(
      [...definition.branches].map(([from, list]) => [from, list.filter(({ targets }) => targets !== undefined)]),
    ),
  };
  const isCertain = (from: string, to: string): boolean =>
    definition.edges.get(from)?.includes(to) === true ||
    definition.joins.some(({ sources, target }) => target === to && sources.includes(from));
  const edges: Topology["edges"][number][] = [];
  for (const [from, targets] of successors(declared)) {
    for (const to of targets) {
      const pair = [numbers.get(from) ?? 0, numbers.get(to) ?? 0] as const;
      edges.push(isCertain(from, to) ? pair : [...pair, 1]);
    }
  }
  const nested = [...definition.nodes.values()].flatMap(({ name, work }) =>
    isNested(work) ? [[name, topologyOf(work.definition)] as const] : [],
  );
  return {
    nodes: [...definition.nodes.keys()],
    edges,
    ...(nested.length > 0 && { nested: Object.fromEntries(nested) }),
  };
}
