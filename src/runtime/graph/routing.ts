import type { Activation, Barrier } from "../../model/checkpoint.ts";
import type { Cancellation } from "../control/cancellation.ts";
import { messageOf } from "../errors.ts";
import { capture, ownCopy } from "../values/capture.ts";
import type { Definition } from "./definition.ts";
import { END, type Goto, isSend, type Target, targetList } from "./goto.ts";
import type { Values } from "./reducers.ts";

/** The part of a finished task that decides which tasks come next. */
export interface Arrival {
  readonly node: string;
  /** The targets that replace the node's edges and branches. */
  readonly goto?: Goto | undefined;
}

/** An activation with its task key. */
export type Task = Activation & { readonly task: string };

export interface Route {
  readonly next: readonly Task[];
  readonly barriers: readonly Barrier[];
}

/** The fault of a target that the graph lacks, or that the branch does not declare. */
export class UnknownTarget extends Error {
  readonly from: string;
  readonly target: string;

  constructor(from: string, target: string, declared?: readonly string[]) {
    const fault =
      declared === undefined ? "not a node of the graph" : `none of its declared targets: ${declared.join(", ")}`;
    super(`"${from}" leads to "${target}", which is ${fault}.`);
    this.from = from;
    this.target = target;
  }
}

/** The fault of a branch that threw, with its node. */
export class BranchFailure extends Error {
  readonly from: string;

  constructor(from: string, cause: unknown) {
    super(`The branch of "${from}" failed: ${messageOf(cause)}`, { cause });
    this.from = from;
  }
}

/**
 * Returns the tasks after these arrivals, in activation order. A node that several arrivals lead to runs once, each
 * `send` is a task of its own, and a join runs when all its sources have arrived, at this boundary or at earlier ones.
 */
export async function route(
  definition: Definition,
  arrivals: readonly Arrival[],
  state: Values,
  waiting: readonly Barrier[],
  step: number,
  cancellation?: Cancellation,
): Promise<Route> {
  const next: Task[] = [];
  const plain = new Set<string>();
  const add = (from: string, target: Target): void => {
    checkTarget(definition, from, target);
    const task = `${step}.${next.length}`;
    if (isSend(target)) {
      const { node, arg } = target;
      next.push(arg === undefined ? { node, task } : { node, arg: capture(arg), task });
    } else if (target !== END && !plain.has(target)) {
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
      for (const target of await branchTargets(definition, node, state, cancellation)) add(node, target);
    }
  }
  const barriers: Barrier[] = [];
  for (const { sources, target } of definition.joins) {
    const before = waiting.find(
      ({ node, arrived }) => node === target && arrived.some((name) => sources.includes(name)),
    );
    const arrived = sources.filter((name) => followed.has(name) || before?.arrived.includes(name));
    if (arrived.length === sources.length) add(target, target);
    else if (arrived.length > 0) barriers.push({ node: target, arrived });
  }
  return { next, barriers };
}

/** Throws {@link UnknownTarget} unless the target is END or a node of the graph. */
export function checkTarget(definition: Definition, from: string, target: Target): void {
  const name = isSend(target) ? target.node : target;
  if (!definition.nodes.has(name) && (name !== END || isSend(target))) throw new UnknownTarget(from, name);
}

async function branchTargets(
  definition: Definition,
  node: string,
  state: Values,
  cancellation: Cancellation | undefined,
): Promise<readonly Target[]> {
  const all: Target[] = [];
  for (const { choose, targets } of definition.branches.get(node) ?? []) {
    let chosen: readonly Target[];
    try {
      const choosing = async (): Promise<unknown> => choose(ownCopy(state));
      const choice = await (cancellation === undefined ? choosing() : cancellation.during(choosing()));
      chosen = targetList(choice, `The branch of "${node}"`);
    } catch (cause) {
      throw new BranchFailure(node, cause);
    }
    const other = chosen.map((target) => (isSend(target) ? target.node : target)).find((to) => !targets?.includes(to));
    if (targets !== undefined && other !== undefined) throw new UnknownTarget(node, other, targets);
    for (const target of chosen) all.push(target);
  }
  return all;
}
