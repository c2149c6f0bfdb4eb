import type { Store } from "../../api/store.ts";
import type { WalkOptions } from "../call/options.ts";
import type { Clock } from "../control/clock.ts";
import type { Context } from "../graph/context.ts";
import type { NodeOptions } from "../graph/definition.ts";
import type { AnyNodes, Declared, FlowTypes, NodeName } from "../graph/flow-types.ts";
import type { Frozen } from "../graph/frozen.ts";
import type { Command } from "../graph/goto.ts";
import type { StateUpdate } from "../graph/overwrite.ts";
import type { Schema } from "../graph/schema.ts";
import type { LeaseOptions } from "../run/lease-keeper.ts";

/** The input of a flow: as declared, else a partial state. */
export type Input<State, Types> = Declared<Types, "input", StateInput<State>>;

/** A partial state as input: its lists and objects may be readonly. */
export type StateInput<State> = { readonly [Key in keyof State]?: Frozen<State[Key]> };

/** The result of a node: a partial state, `{ update, goto }`, or nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: a node that only has an effect returns nothing at all.
export type NodeResult<State> = StateUpdate<State> | Command<State> | undefined | null | void;

/** The context of a node, with the argument of that node and the declared types of its flow. */
export type NodeContext<Arg, Types> = Context<
  Arg,
  Declared<Types, "emit">,
  Declared<Types, "question">,
  Declared<Types, "answer">
>;

/** The function of a node: gets the state, which is frozen, and returns an update of it. */
export type NodeFunction<
  State,
  Arg = unknown,
  Types extends FlowTypes = FlowTypes,
  Result extends NodeResult<State> = NodeResult<State>,
> = (state: Frozen<State>, context: NodeContext<Arg, Types>) => Result | Promise<Result>;

/**
 * A function whose parameters may be annotated with the state's own type: the compiler compares parameters of methods both ways.
 * A node without annotations gets the frozen state.
 */
export type Taking<State, Context, Result> = {
  run(state: State, ...context: [Context] extends [never] ? [] : [context: Context]): Result;
}["run"];

/** The keys of a result that have a value. */
type Given<Result> = { [Key in keyof Result]-?: [Result[Key]] extends [undefined] ? never : Key }[keyof Result];

/** Stands in place of a node's name whose result has keys that the state lacks. */
interface StateLacks<Key> {
  readonly "the state lacks the key": Key;
}

/** The keys of an update that the state lacks. */
type UnknownKeys<State, Update> = Update extends object ? Exclude<Given<Update>, keyof State> : never;

/** The keys of a node's result that the state lacks. A goto beside keys of the state would be a key of the state. */
type UnknownResultKeys<State, Result> = Result extends object
  ? [Given<Result>] extends ["update" | "goto"]
    ? Result extends { readonly update?: infer Update }
      ? UnknownKeys<State, Update>
      : never
    : UnknownKeys<State, Result>
  : never;

/** Refuses a node whose result has keys that the state lacks: as an intersection with its name. */
export type KnownResult<State, Result> = [UnknownResultKeys<State, Result>] extends [never]
  ? unknown
  : StateLacks<UnknownResultKeys<State, Result>>;

/** Options of `graph`. */
export interface GraphOptions<State> {
  /** A Standard Schema (zod, valibot, arktype, …) that checks every input, and whose output is used in its place. Default: none. */
  readonly schema?: Schema<StateInput<State>>;
  /** The version of the state's shape, stored with every checkpoint. Default 1. */
  readonly version?: number;
  /** Functions that turn a state of a version into one of the next. A thread that lacks one on its way is refused with `VERSION`. Default: none. */
  // biome-ignore lint/suspicious/noExplicitAny: a state of an earlier version has another shape, which only the function knows.
  readonly migrate?: Readonly<Record<number, (state: any) => unknown>>;
  /** New names of nodes, by their old ones: threads in flight go on at the renamed node. Default: none. */
  readonly renamed?: Readonly<Record<string, string>>;
}

/** Options of a graph that is a node of another: how the two states meet. */
export interface NestedOptions<Outer, Inner, Arg = unknown, InnerTypes extends FlowTypes = FlowTypes>
  extends NodeOptions {
  /** The nested graph's input. Default: the outer state as it is. */
  readonly input?: (state: Frozen<Outer>, arg: Frozen<Arg>) => Input<Inner, InnerTypes>;
  /** The update of the outer state. Default: the nested graph's final state as it is. */
  readonly output?: (result: Inner, state: Frozen<Outer>) => StateUpdate<Outer>;
}

/** Options of `compile`: the store, and the defaults of every run. */
export interface CompileOptions<Nodes extends object = AnyNodes>
  extends Omit<WalkOptions<unknown, NodeName<Nodes>>, "signal" | "on"> {
  /** The store of the threads. Without a store, runs keep nothing. Default: none. */
  // biome-ignore lint/suspicious/noExplicitAny: a store may be typed for any state; the graph checks what it reads.
  readonly store?: Store<any>;
  /** The name and the time of the lease that a run takes on its thread. Default: those of `LeaseOptions`. */
  readonly lease?: LeaseOptions;
  /** The time that retries, timeouts, sleeps and workers go by. Default: the store's clock, and timers of the system. */
  readonly clock?: Clock;
}
