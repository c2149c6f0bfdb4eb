import { adoptSchema, hasSchema } from "../../api/adapter.ts";
import type { Store } from "../../api/store.ts";
import { LONGEST } from "../control/clock.ts";
import { faultsOf } from "../graph/check.ts";
import {
  type AnyBranch,
  type AnyNode,
  type Branch,
  type Definition,
  isNested,
  type Join,
  type NodeDefinition,
  type NodeOptions,
} from "../graph/definition.ts";
import type {
  AnyNodes,
  ArgOf,
  BranchGoto,
  FitChoice,
  FlowTypes,
  GotoOf,
  NodeName,
  Unfit,
  UnfitGoto,
} from "../graph/flow-types.ts";
import type { AnyReducer } from "../graph/fold.ts";
import type { Frozen } from "../graph/frozen.ts";
import type { END, START } from "../graph/goto.ts";
import type { Reducers, Values } from "../graph/reducers.ts";
import type { InputOf, OutputOf, Schema } from "../graph/schema.ts";
import { Flow } from "./flow.ts";
import type {
  CompileOptions,
  GraphOptions,
  KnownResult,
  NestedOptions,
  NodeContext,
  NodeResult,
  Taking,
} from "./graph-options.ts";
import { checkKnown } from "./known-options.ts";

/** The nodes of a graph that has none yet. */
type NoNodes = Record<never, never>;

/**
 * Begins a graph. Its name is that of the workflow: threads remember it, and refuse to be resumed by another workflow.
 *
 * @example
 * const flow = graph<{ messages: string[] }>("hello").reduce({ messages: append })
 *   .node("greet", () => ({ messages: ["Hello."] })).edge(START, "greet").edge("greet", END).compile({ store });
 */
export function graph<Of extends Schema<object, object>>(
  name: string,
  options: Omit<GraphOptions<OutputOf<Of>>, "schema"> & { readonly schema: Of },
): Graph<OutputOf<Of>, { readonly input: InputOf<Of> }, NoNodes, never>;
export function graph<State extends object, Types extends FlowTypes = FlowTypes>(
  name: string,
  options?: GraphOptions<State>,
): Graph<State, Types, NoNodes, never>;
export function graph(name: string, options: GraphOptions<object> = {}): Graph<object> {
  return new Graph(name, options);
}

/**
 * A graph under construction, which `compile` checks as a whole. `Nodes` has the nodes added so far, with their arguments, and
 * `Gotos` the targets of their gotos: for the compiler alone.
 */
export class Graph<
  State extends object,
  Types extends FlowTypes = FlowTypes,
  Nodes extends object = AnyNodes,
  Gotos = never,
> {
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
    checkKnown("graph", options);
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

  /**
   * Sets the reducers of keys: they combine an update with the value before it. A key without a reducer is replaced.
   *
   * @example
   * graph<State>("chat").reduce({ messages: append, total: (before, more) => (before ?? 0) + more });
   */
  reduce(reducers: Reducers<State>): this {
    for (const [key, reducer] of Object.entries(reducers)) {
      if (typeof reducer !== "function") throw new TypeError(`The reducer of "${key}" must be a function.`);
      this.#reducers.set(key, reducer as AnyReducer);
    }
    return this;
  }

  /**
   * Adds a node: a function from the state to an update of it.
   *
   * @example
   * flow.node("plan", async (state) => ({ plan: await plan(state.question) }), { retry: { attempts: 3 } });
   */
  node<
    const Name extends string,
    Arg = ArgOf<Types, Name>,
    Result extends NodeResult<State> = NodeResult<State>,
    const To extends string = never,
  >(
    name: Name & KnownResult<State, Result>,
    run: Taking<Frozen<State>, NodeContext<Arg, Types>, Result | Promise<Result>>,
    options: NodeOptions<To> = {},
  ): Graph<State, Types, Nodes & Record<Name, Frozen<Arg>>, Gotos | GotoOf<Result> | To> {
    checkKnown("node", options);
    if (typeof run !== "function") throw new TypeError(`Node "${name}" needs a function to run.`);
    return this.#add({ name, work: run as unknown as AnyNode, options });
  }

  /**
   * Adds a graph as a node. Each of its tasks runs in a namespace of its own.
   *
   * @example
   * flow.graph("research", research, { input: ({ question }) => ({ question }), output: ({ notes }) => ({ notes }) });
   */
  graph<
    const Name extends string,
    Inner extends object,
    InnerTypes extends FlowTypes,
    InnerNodes extends object,
    Arg = ArgOf<Types, Name>,
  >(
    name: Name,
    inner: Graph<Inner, InnerTypes, InnerNodes> | Flow<Inner, InnerTypes, InnerNodes>,
    options: NestedOptions<State, Inner, Arg, InnerTypes> = {},
  ): Graph<State, Types, Nodes & Record<Name, Frozen<Arg>>, Gotos> {
    checkKnown("a nested graph", options);
    const { input, output, ...rest } = options;
    const work = {
      definition: inner.definition,
      input: (input as unknown as ((state: Values, arg: unknown) => unknown) | undefined) ?? ((state: Values) => state),
      output:
        (output as unknown as ((result: Values, state: Values) => unknown) | undefined) ?? ((result: Values) => result),
    };
    return this.#add({ name, work, options: rest });
  }

  /**
   * Adds an edge from a node to another; from a list of nodes, to a join that waits for all of them.
   *
   * @example
   * flow.edge(START, "plan").edge("plan", "act").edge(["read", "search"], "write");
   */
  edge(from: NodeName<Nodes> | typeof START | readonly NodeName<Nodes>[], to: NodeName<Nodes> | typeof END): this {
    if (typeof from === "string") this.#edges.set(from, [...new Set([...(this.#edges.get(from) ?? []), to])]);
    else this.#joins.push({ sources: [...from], target: to });
    return this;
  }

  /**
   * Adds a function that chooses the targets after a node by the state. `targets` declares them, for checks and pictures.
   *
   * @example
   * flow.branch("review", (state) => (state.approved ? "publish" : "write"), ["publish", "write"]);
   */
  branch<Choice extends BranchGoto<Nodes>>(
    from: (NodeName<Nodes> | typeof START) & FitChoice<Choice, Nodes>,
    choose: Taking<Frozen<State>, never, Choice | Promise<Choice>>,
    targets?: readonly (NodeName<Nodes> | typeof END)[],
  ): this {
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

  /**
   * Checks the graph and makes it runnable; a TypeError lists everything that is wrong with it.
   *
   * @example
   * const flow = builder.compile({ store });
   * const { state } = await flow.run({ messages: ["hello"] }, { thread: "user-42" });
   */
  compile(
    ...given: [Unfit<Gotos, Nodes>] extends [never]
      ? [options?: CompileOptions<Nodes>]
      : [fault: UnfitGoto<Unfit<Gotos, Nodes>>]
  ): Flow<State, Types, Nodes> {
    const options = (given[0] ?? {}) as CompileOptions;
    checkKnown("compile", options);
    const { store, lease = {}, clock, ...defaults } = options;
    checkKnown("lease", lease);
    const { definition } = this;
    const faults = faultsOf(definition);
    if (faults.length > 0) throw new TypeError(`Graph "${this.#name}" cannot be run: ${faults.join("; ")}.`);
    return new Flow<State, Types, Nodes>({ definition: versioned(store, definition), store, lease, clock, defaults });
  }

  // biome-ignore lint/suspicious/noExplicitAny: the builder is the same object, and only the compiler's view of it changes.
  #add(node: NodeDefinition): any {
    const { name, options } = node;
    checkNode(name, options);
    if (this.#nodes.has(name)) this.#duplicates.push(name);
    else this.#nodes.set(name, node);
    return this;
  }
}

/**
 * Makes the versions of a graph, and of those nested in it, those of their workflows in a store that was opened with a schema:
 * the store then migrates their states.
 */
function versioned(store: Store<unknown> | undefined, definition: Definition): Definition {
  const place = store?.thread("versions");
  if (place === undefined || !hasSchema(place)) return definition;
  const { name, version, migrate } = definition;
  if (version !== undefined) adoptSchema(place, name, { version, migrate: Object.fromEntries(migrate) });
  const nodes = [...definition.nodes].map(([key, node]): [string, NodeDefinition] => {
    const { work } = node;
    return [key, isNested(work) ? { ...node, work: { ...work, definition: versioned(store, work.definition) } } : node];
  });
  return { ...definition, nodes: new Map(nodes), storeMigrates: true };
}

function checkNode(name: string, { retry, timeout, goto }: NodeOptions): void {
  if (retry !== undefined) checkKnown("retry", retry);
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
