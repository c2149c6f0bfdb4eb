import type { Activation, Barrier } from "../../model/checkpoint.ts";
import type { Definition } from "../graph/definition.ts";
import type { Values } from "../graph/reducers.ts";
import { END, type Goto, isSend, type Target, targetList } from "../graph/targets.ts";

/** A task that ended, as far as it decides what comes next. */
export interface Arrival {
  readonly node: string;
  /** Where it chose to go instead of along its edges. */
  readonly goto?: Goto | undefined;
}

/** An activation with its task key. */
export type Task = Activation & { readonly task: string };

export interface Route {
  readonly next: readonly Task[];
  readonly barriers: readonly Barrier[];
}

/** A target that the graph lacks. */
export class UnknownTarget extends Error {
  readonly from: string;
  readonly target: string;

  constructor(from: string, target: string) {
    super(`"${from}" leads to "${target}", which is not a node of the graph.`);
    this.from = from;
    this.target = target;
  }
}

/** A branch that threw, with the node it belongs to. */
export class BranchFailure extends Error {
  readonly from: string;

  constructor(from: string, cause: unknown) {
    super(`The branch of "${from}" failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.from = from;
  }
}

/**
 * What runs after these tasks, in activation order: a node that several lead to runs once, each `send` is a task of its
 * own, a join runs when all it waits for have arrived, at this boundary or at earlier ones.
 */
export async function route(
  definition: Definition,
  arrivals: readonly Arrival[],
  state: Values,
  waiting: readonly Barrier[],
  step: number,
): Promise<Route> {
  const next: Task[] = [];
  const plain = new Set<string>();
  const add = (from: string, target: Target): void => {
    checkTarget(definition, from, target);
    const task = `${step}.${next.length}`;
    if (isSend(target)) next.push(target.arg === undefined ? { node: target.node, task } : { ...target, task });
    else if (target !== END && !plain.has(target)) {
      plain.add(target);
      next.push({ node: target, task });
    }
  };
  const followed = new Set<string>();
  for (const { node, goto } of arrivals) {
    if (goto !== undefined) {
      for (const target of targetList(goto, `The goto of "${node}"`)) add(node, target);
    } else if (!followed.has(node)) {
      followed.add(node);
      for (const target of definition.edges.get(node) ?? []) add(node, target);
      for (const target of await branchTargets(definition, node, state)) add(node, target);
    }
  }
  const barriers: Barrier[] = [];
  for (const { sources, target } of definition.joins) {
    const before = waiting.find((one) => one.node === target && one.arrived.some((name) => sources.includes(name)));
    const arrived = sources.filter((name) => followed.has(name) || before?.arrived.includes(name));
    if (arrived.length === sources.length) add(target, target);
    else if (arrived.length > 0) barriers.push({ node: target, arrived });
  }
  return { next, barriers };
}

/** An END is fine, a node that the graph lacks is not. */
export function checkTarget(definition: Definition, from: string, target: Target): void {
  const name = isSend(target) ? target.node : target;
  if (!definition.nodes.has(name) && (name !== END || isSend(target))) throw new UnknownTarget(from, name);
}

async function branchTargets(definition: Definition, node: string, state: Values): Promise<readonly Target[]> {
  const targets: Target[] = [];
  for (const { choose } of definition.branches.get(node) ?? []) {
    try {
      targets.push(...targetList(await choose(state), `The branch of "${node}"`));
    } catch (cause) {
      throw new BranchFailure(node, cause);
    }
  }
  return targets;
}
