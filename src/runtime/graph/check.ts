import type { Definition, Join } from "./definition.ts";
import { isNested } from "./definition.ts";
import { END, START } from "./goto.ts";

/** Returns all faults of a graph, each with the name of its node; an empty list means that the graph can be run. */
export function faultsOf(definition: Definition): readonly string[] {
  const faults = [...nameFaults(definition), ...targetFaults(definition), ...joinFaults(definition.joins)];
  for (const { name, work } of definition.nodes.values()) {
    if (isNested(work)) faults.push(...faultsOf(work.definition).map((fault) => `in graph node "${name}": ${fault}`));
  }
  // Unknown names would make nodes look unreachable that are not.
  return faults.length > 0 ? faults : pathFaults(definition);
}

function nameFaults({ nodes, duplicates }: Definition): string[] {
  const faults = duplicates.map((name) => `node "${name}" is defined more than once`);
  if (nodes.size === 0) faults.push("it has no nodes: add one with .node(name, run)");
  for (const name of nodes.keys()) {
    if (name === START || name === END) faults.push(`"${name}" is reserved: give the node another name`);
    if (name === "" || new TextEncoder().encode(name).length > 256 || name.includes("\0") || !name.isWellFormed()) {
      faults.push(`node name ${JSON.stringify(name)} must have 1 to 256 bytes, well-formed and without NUL`);
    }
  }
  return faults;
}

function targetFaults({ nodes, edges, branches, joins }: Definition): string[] {
  const faults: string[] = [];
  const source = (name: string, what: string): void => {
    if (name !== START && !nodes.has(name)) faults.push(`${what} starts at "${name}", which is not a node`);
  };
  const target = (name: string, what: string): void => {
    if (name !== END && !nodes.has(name)) faults.push(`${what} leads to "${name}", which is not a node`);
  };
  for (const [from, targets] of edges) {
    source(from, "an edge");
    for (const to of targets) target(to, `the edge from "${from}"`);
  }
  for (const [from, list] of branches) {
    source(from, "a branch");
    for (const { targets = [] } of list) for (const to of targets) target(to, `the branch of "${from}"`);
  }
  for (const { sources, target: to } of joins) {
    for (const name of sources)
      if (!nodes.has(name)) faults.push(`the join at "${to}" waits for "${name}", which is not a node`);
    target(to, `the join of ${sources.map((name) => `"${name}"`).join(", ")}`);
  }
  for (const { name, options } of nodes.values()) {
    for (const to of options.goto ?? []) target(to, `the goto of "${name}"`);
  }
  return faults;
}

/** Returns the faults of joins. A waiting join is stored as its node and the nodes that arrived, so these must identify it. */
function joinFaults(joins: readonly Join[]): string[] {
  const faults: string[] = [];
  for (const [index, { sources, target }] of joins.entries()) {
    if (sources.length === 0) faults.push(`the join at "${target}" waits for nothing: name the nodes it waits for`);
    const twice = sources.find((name, at) => sources.indexOf(name) !== at);
    if (twice !== undefined) faults.push(`the join at "${target}" names "${twice}" twice`);
    const other = joins.slice(0, index).find((join) => join.target === target);
    const shared = other?.sources.find((name) => sources.includes(name));
    if (shared !== undefined) faults.push(`two joins at "${target}" wait for "${shared}": make them one`);
  }
  return faults;
}

function pathFaults(definition: Definition): string[] {
  const { nodes } = definition;
  const forward = successors(definition);
  if ((forward.get(START) ?? []).length === 0) return ["nothing starts it: add .edge(START, node)"];
  const faults: string[] = [];
  const reached = closure([START], (name) => forward.get(name) ?? []);
  for (const name of nodes.keys()) {
    if (!reached.has(name)) {
      faults.push(`node "${name}" is never reached: lead an edge, a branch or a declared goto to it`);
    }
  }
  const backward = new Map<string, string[]>();
  for (const [from, targets] of forward) {
    for (const to of targets) backward.set(to, [...(backward.get(to) ?? []), from]);
  }
  const ending = closure([END], (name) => backward.get(name) ?? []);
  for (const name of nodes.keys()) {
    if (reached.has(name) && !ending.has(name)) {
      faults.push(
        `node "${name}" has no way to END: add .edge("${name}", END), or declare where it goes with { goto }`,
      );
    }
  }
  return faults;
}

/** Returns the nodes that each node may lead to. A branch without declared targets may lead anywhere. */
export function successors({ nodes, edges, branches, joins }: Definition): ReadonlyMap<string, readonly string[]> {
  const anywhere = [...nodes.keys(), END];
  const result = new Map<string, string[]>();
  for (const name of [START, ...nodes.keys()]) {
    const targets = new Set(edges.get(name));
    for (const branch of branches.get(name) ?? []) for (const to of branch.targets ?? anywhere) targets.add(to);
    for (const join of joins) if (join.sources.includes(name)) targets.add(join.target);
    for (const to of nodes.get(name)?.options.goto ?? []) targets.add(to);
    result.set(name, [...targets]);
  }
  return result;
}

function closure(from: readonly string[], follow: (name: string) => readonly string[]): ReadonlySet<string> {
  const seen = new Set(from);
  // Iterating a set also visits members that are added during the iteration.
  for (const name of seen) for (const to of follow(name)) seen.add(to);
  return seen;
}
