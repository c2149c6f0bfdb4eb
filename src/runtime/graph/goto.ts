import { END, START } from "../../model/interface/topology.ts";
import type { StateUpdate } from "./overwrite.ts";

export { END, START };

/** An activation of a node with an argument of its own, made by {@link send}. */
export interface Send<Node extends string = string, Arg = unknown> {
  readonly node: Node;
  readonly arg: Arg;
}

/** A node's name, {@link END}, or a {@link Send}. */
export type Target = typeof END | (string & {}) | Send;
/** A target, or several. */
export type Goto = Target | readonly Target[];

/** A node's result with targets: `goto` takes the place of the node's edges and branches. */
export interface Command<State> {
  readonly update?: StateUpdate<State> | undefined;
  readonly goto?: Goto | undefined;
}

/**
 * Activates a node once with its own argument, which it finds in `ctx.arg`.
 *
 * @example
 * graph.branch("plan", (state) => state.pages.map((page) => send("read", page)));
 */
export function send<const Node extends string>(node: Node): Send<Node, undefined>;
export function send<const Node extends string, Arg>(node: Node, arg: Arg): Send<Node, Arg>;
export function send(node: string, arg?: unknown): Send {
  return { node, arg };
}

export function isSend(target: Target): target is Send {
  return typeof target === "object";
}

/** Returns the targets of a goto or a branch as a list. Anything but a name or a send is a TypeError. */
export function targetList(value: unknown, from: string): readonly Target[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const target of list) {
    if (typeof target === "string") continue;
    if (typeof target === "object" && target !== null && typeof (target as Send).node === "string") continue;
    const given = target === null ? "null" : typeof target;
    throw new TypeError(`${from} gave ${given} as a target: give a node's name, END, or send(node, arg).`);
  }
  return list as readonly Target[];
}
