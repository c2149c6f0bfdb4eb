/** Where a run begins: `edge(START, "plan")`. */
export const START = "__start__";
/** Where a run, or one branch of it, ends: `edge("answer", END)`. */
export const END = "__end__";

/** One activation of a node with an argument of its own; made by {@link send}. */
export interface Send {
  readonly node: string;
  readonly arg: unknown;
}

/** A node's name, {@link END}, or a {@link Send}. */
export type Target = string | Send;
/** One target or several. */
export type Goto = Target | readonly Target[];

/** What a node may return instead of a plain update: what to change, and where to go instead of along its edges. */
export interface Command<State> {
  readonly update?: Partial<State> | undefined;
  readonly goto?: Goto | undefined;
}

/**
 * Activates a node once with its own argument, which it finds in `ctx.arg`.
 *
 * @example
 * graph.branch("plan", (state) => state.pages.map((page) => send("read", page)));
 */
export function send(node: string, arg?: unknown): Send {
  return { node, arg };
}

export function isSend(target: Target): target is Send {
  return typeof target === "object";
}

/** The targets of a goto or a branch as a list; anything that is neither a name nor a send is a TypeError. */
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
