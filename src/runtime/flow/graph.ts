import type { Store } from "../../api/store.ts";
import type { WalkOptions } from "../call/options.ts";
import { type Clock, LONGEST } from "../control/clock.ts";
import { faultsOf } from "../graph/check.ts";
import type { Context } from "../graph/context.ts";
import type { AnyBranch, AnyNode, Branch, Definition, Join, NodeDefinition, NodeOptions } from "../graph/definition.ts";
import type { AnyReducer } from "../graph/fold.ts";
import type { Command, Goto } from "../graph/goto.ts";
import type { StateUpdate } from "../graph/overwrite.ts";
import type { Reducers, Values } from "../graph/reducers.ts";
import type { Schema } from "../graph/schema.ts";
import type { LeaseOptions } from "../run/lease-keeper.ts";
import { Flow } from "./flow.ts";

/** The result of a node: a partial state, `{ update, goto }`, or nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: a node that only has an effect returns nothing at all.
export type NodeResult<State> = StateUpdate<State> | Command<State> | undefined | null | void;

/** The function of a node: gets the state, which is frozen, and returns an update of it. */
export type NodeFunction<State> = (
  state: Readonly<State>,
  context: Context,
) => NodeResult<State> | Promise<NodeResult<State>>;

export interface GraphOptions<State> {
  /** A Standard Schema (zod, valibot, arktype, …) that checks every input, and whose output is used in its place. */
  readonly schema?: Schema<Partial<State>>;
  /** The version of the state's shape, stored with every checkpoint. Default 1. */
  readonly version?: number;
  /** Functions that turn a state of a version into one of the next. A thread that lacks one on its way is refused with `VERSION`. */
  // biome-ignore lint/suspicious/noExplicitAny: a state of an earlier version has another shape, which only the function knows.
  readonly migrate?: Readonly<Record<number, (state: any) => unknown>>;
  /** New names of nodes, by their old ones: threads in flight go on at the renamed node. */
  readonly renamed?: Readonly<Record<string, string>>;
}

export interface NestedOptions<Outer, Inner> extends NodeOptions {
  /** The nested graph's input. Default: the outer state as it is. */
  readonly input?: (state: Readonly<Outer>, arg: unknown) => Partial<Inner>;
  /** The update of the outer state. Default: the nested graph's final state as it is. */
  readonly output?: (result: Inner, state: Readonly<Outer>) => Partial<Outer>;
}

export interface CompileOptions extends Omit<WalkOptions, "signal" | "on"> {
  /** The store of the threads. Without a store, runs keep nothing. */
  // biome-ignore lint/suspicious/noExplicitAny: a store may be typed for any state; the graph checks what it reads.
  readonly store?: Store<any>;
  readonly lease?: LeaseOptions;
  /** The time that retries, timeouts, sleeps and workers go by. Default: the store's clock, and timers of the system. */
  readonly clock?: Clock;
}

/**
 * Begins a graph. Its name is that of the workflow: threads remember it, and refuse to be resumed by another workflow.
 *
 * @example
 * const flow = graph<{ messages: string[] }>("hello").reduce({ messages: append })
 *   .node("greet", () => ({ messages: ["Hello."] })).edge(START, "greet").edge("greet", END).compile({ store });
 */
export function graph<State extends object>(name: string, options: GraphOptions<State> = {}): Graph<State> {
  return new Graph<State>(name, options);
}

/** A graph under construction, which `compile` checks as a whole. */
export class Graph<State extends object> {
  readonly #name: string;
  readonly #schema: Schema | undefined;
  readonly #version: number | undefined;
  readonly #migrate: Definition["migrate"];
  readonly #renamed: Definition["renamed"];
  readonly #reducers = new Map<string, AnyReducer>();
  readonly #nodes = new Map<string, NodeDefinition>();
  readonly #edges = new Map<string, string[]>();
  readonly #branches = new Map<string, Branch[]>();
  readonly #joins: Join[] = [];
  readonly #duplicates: string[] = [];

  constructor(name: string, options: GraphOptions<State>) {
    if (typeof name !== "string" || name === "") throw new TypeError("A graph needs a name: graph(name).");
    this.#name = name;
    this.#schema = options.schema;
    const { version, migrate = {}, renamed = {} } = options;
    if (version !== undefined && !(Number.isSafeInteger(version) && version >= 1)) {
      throw new TypeError(`The version of graph "${name}" must be an integer of at least 1.`);
    }
    this.#version = version;
    this.#migrate = new Map(Object.entries(migrate).map(([from, migration]) => [Number(from), migration]));
    this.#renamed = new Map(Object.entries(renamed));
  }

  /** Sets the reducers of keys: they combine an update with the value before it. A key without a reducer is replaced. */
  reduce(reducers: Reducers<State>): this {
    for (const [key, reducer] of Object.entries(reducers)) {
      if (typeof reducer !== "function") throw new TypeError(`The reducer of "${key}" must be a function.`);
      this.#reducers.set(key, reducer as AnyReducer);
    }
    return this;
  }

  /** Adds a node. */
  node(name: string, run: NodeFunction<State>, options: NodeOptions = {}): this {
    if (typeof run !== "function") throw new TypeError(`Node "${name}" needs a function to run.`);
    return this.#add({ name, work: run as unknown as AnyNode, options });
  }

  /** Adds a graph as a node. Each of its tasks runs in a namespace of its own. */
  graph<Inner extends object>(
    name: string,
    inner: Graph<Inner> | Flow<Inner>,
    options: NestedOptions<State, Inner> = {},
  ): this {
    const { input, output, ...rest } = options;
    const work = {
      definition: inner.definition,
      input: (input as unknown as ((state: Values, arg: unknown) => unknown) | undefined) ?? ((state: Values) => state),
      output:
        (output as unknown as ((result: Values, state: Values) => unknown) | undefined) ?? ((result: Values) => result),
    };
    return this.#add({ name, work, options: rest });
  }

  /** Adds an edge from a node to another; from a list of nodes, to a join that waits for all of them. */
  edge(from: string | readonly string[], to: string): this {
    if (typeof from === "string") this.#edges.set(from, [...new Set([...(this.#edges.get(from) ?? []), to])]);
    else this.#joins.push({ sources: [...from], target: to });
    return this;
  }

  /** Adds a function that chooses the targets after a node by the state. `targets` declares them, for checks and pictures. */
  branch(from: string, choose: (state: Readonly<State>) => Goto | Promise<Goto>, targets?: readonly string[]): this {
    if (typeof choose !== "function") throw new TypeError(`The branch of "${from}" needs a function that chooses.`);
    const branch: Branch = { choose: choose as unknown as AnyBranch, targets: targets && [...targets] };
    this.#branches.set(from, [...(this.#branches.get(from) ?? []), branch]);
    return this;
  }

  /** Returns the graph as data, as it is now. */
  get definition(): Definition {
    return {
      name: this.#name,
      schema: this.#schema,
      version: this.#version,
      migrate: this.#migrate,
      renamed: this.#renamed,
      reducers: new Map(this.#reducers),
      nodes: new Map(this.#nodes),
      edges: new Map(this.#edges),
      branches: new Map(this.#branches),
      joins: [...this.#joins],
      duplicates: [...this.#duplicates],
    };
  }

  /** Checks the graph and makes it runnable; a TypeError lists everything that is wrong with it. */
  compile(options: CompileOptions = {}): Flow<State> {
    const { store, lease = {}, clock, ...defaults } = options;
    const { definition } = this;
    const faults = faultsOf(definition);
    if (faults.length > 0) throw new TypeError(`Graph "${this.#name}" cannot be run: ${faults.join("; ")}.`);
    return new Flow<State>({ definition, store, lease, clock, defaults });
  }

  #add(node: NodeDefinition): this {
    const { name, options } = node;
    checkOptions(name, options);
    if (this.#nodes.has(name)) this.#duplicates.push(name);
    else this.#nodes.set(name, node);
    return this;
  }
}

function checkOptions(name: string, { retry, timeout, goto }: NodeOptions): void {
  if (retry !== undefined && !(Number.isInteger(retry.attempts) && retry.attempts >= 1)) {
    throw new TypeError(`Node "${name}": retry.attempts must be an integer of at least 1.`);
  }
  if (retry?.backoff !== undefined && !(retry.backoff >= 0)) {
    throw new TypeError(`Node "${name}": retry.backoff must be a number of milliseconds.`);
  }
  if (timeout !== undefined && !(timeout > 0 && timeout <= LONGEST)) {
    throw new TypeError(`Node "${name}": timeout must be a number of milliseconds, from 1 to ${LONGEST}.`);
  }
  if (goto !== undefined && !Array.isArray(goto)) throw new TypeError(`Node "${name}": goto must be a list of names.`);
}
