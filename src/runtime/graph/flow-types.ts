import type { END, Goto, Send } from "./goto.ts";

/**
 * The types of a flow besides its state, all optional: declared once, they hold in nodes, events, answers and results.
 *
 * @example
 * graph<State, { emit: string; question: { charge: number }; answer: boolean; args: { read: Page } }>("order")
 */
export interface FlowTypes {
  /** The input, where a schema turns it into another shape. Default: a partial state. */
  readonly input?: unknown;
  /** The data of `ctx.emit`. */
  readonly emit?: unknown;
  /** The payloads of `ctx.interrupt`. */
  readonly question?: unknown;
  /** The answers to `ctx.interrupt`. */
  readonly answer?: unknown;
  /** The arguments of nodes, by name. A node can also declare its own: `(state, ctx: Context<Page>) => …`. */
  readonly args?: object;
}

/** A declared type of a flow; `Otherwise` where it is not declared. */
export type Declared<Types, Key extends keyof FlowTypes, Otherwise = unknown> = Types extends {
  readonly [K in Key]: infer Value;
}
  ? Value
  : Otherwise;

/** The declared argument of a node. */
export type ArgOf<Types, Name> = Types extends { readonly args: infer Args }
  ? Name extends keyof Args
    ? Args[Name]
    : unknown
  : unknown;

/** The nodes of a graph: their arguments, by name. */
export type AnyNodes = Readonly<Record<string, unknown>>;

/** The names of a graph's nodes, as far as the compiler knows them; any name before the first node was added. */
export type NodeName<Nodes> = [keyof Nodes] extends [never] ? string : keyof Nodes & string;

/** A target in a graph: a node's name, END, or a send with the argument that the node takes. */
export type NodeTarget<Nodes> =
  | NodeName<Nodes>
  | typeof END
  | ([keyof Nodes] extends [never]
      ? Send
      : { [Name in keyof Nodes & string]: Send<Name, Nodes[Name]> }[keyof Nodes & string]);

/** A target in a graph, or several. */
export type NodeGoto<Nodes> = NodeTarget<Nodes> | readonly NodeTarget<Nodes>[];

/** The choice of a branch: names that are not literals pass, and are checked when the branch is taken. */
export type BranchGoto<Nodes> = NodeGoto<Nodes> | Goto;

/** Refuses a branch whose choice leads to no node: as an intersection with the name of its node. */
export type FitChoice<Choice, Nodes> = [keyof Nodes] extends [never]
  ? unknown
  : [Unfit<TargetsOf<Choice>, Nodes>] extends [never]
    ? unknown
    : UnfitGoto<Unfit<TargetsOf<Choice>, Nodes>>;

type TargetsOf<Choice> = Choice extends readonly (infer Target)[] ? Target : Choice;

/** The targets of the goto in a node's result. */
export type GotoOf<Result> = Result extends { readonly goto: infer To } ? TargetsOf<To> : never;

/** The targets among `Targets` that lead to no node, or send an argument that the node does not take; names that are not literals pass. */
export type Unfit<Targets, Nodes> = Targets extends string
  ? string extends Targets
    ? never
    : Exclude<Targets, (keyof Nodes & string) | typeof END>
  : Targets extends Send<infer Name, infer Arg>
    ? string extends Name
      ? never
      : Name extends keyof Nodes
        ? [Arg] extends [Nodes[Name]]
          ? never
          : Name
        : Name
    : never;

/** Stands in place of an argument of `compile` or `branch`, for a target that does not fit. */
export interface UnfitGoto<Name> {
  /** The name is no node, or the argument that is sent to it is not the node's. */
  readonly "no such node, or not with this argument": Name;
}
