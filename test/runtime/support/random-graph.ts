import fc from "fast-check";
import type { Store } from "../../../src/index.ts";
import { append, END, type Flow, type Graph, graph, START, send, type Target } from "../../../src/runtime/index.ts";

/** A node of a random graph: how often it fails, how many questions it asks, how often it is activated, what it is. */
export interface Shape {
  readonly failures: number;
  readonly questions: number;
  readonly sends: number;
  readonly nested: boolean;
}

/** Layers of nodes; each leads to the next by plain edges or by a join. */
export interface Plan {
  readonly layers: readonly (readonly Shape[])[];
  readonly joins: readonly boolean[];
}

const shape: fc.Arbitrary<Shape> = fc.record({
  failures: fc.nat({ max: 2 }),
  questions: fc.nat({ max: 2 }),
  sends: fc.nat({ max: 3 }),
  nested: fc.boolean(),
});

export const plans: fc.Arbitrary<Plan> = fc.record({
  layers: fc.array(fc.array(shape, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
  joins: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
});

export interface State {
  out: string[];
}

/** The effects of runs on the outside: the tasks that ended, and the tasks that still fail. */
export class World {
  readonly ended: Map<string, number> = new Map();
  readonly #failed = new Map<string, number>();

  /** Fails as often as the task is to, then says that it ended. */
  visit(task: string, failures: number): void {
    const failed = this.#failed.get(task) ?? 0;
    if (failed < failures) {
      this.#failed.set(task, failed + 1);
      throw new Error(`${task} fails for the ${failed + 1}. time`);
    }
    this.ended.set(task, (this.ended.get(task) ?? 0) + 1);
  }
}

/** The graph of a plan. Tame, nothing fails or asks: the questions answer themselves. */
export function build(plan: Plan, world: World, tame: boolean, store?: Store<unknown>): Flow<State> {
  const builder = graph<State>("random").reduce({ out: append });
  for (const [index, layer] of plan.layers.entries()) {
    const names = layer.map((_, position) => `${index}${"abc"[position]}`);
    for (const [position, one] of layer.entries()) addNode(builder, names[position] as string, one, world, tame);
    const next = plan.layers[index + 1]?.map((one, position) => ({
      name: `${index + 1}${"abc"[position]}`,
      sends: one.sends,
    }));
    const gate = `gate${index}`;
    if (index === 0)
      lead(
        builder,
        START,
        layer.map(({ sends }, position) => ({ name: names[position] as string, sends })),
      );
    if (next === undefined) for (const name of names) builder.edge(name, END);
    else {
      builder.node(gate, () => ({ out: [gate] }));
      if (plan.joins[index]) builder.edge(names, gate);
      else for (const name of names) builder.edge(name, gate);
      lead(builder, gate, next);
    }
  }
  return builder.compile(store === undefined ? {} : { store });
}

function lead(builder: Graph<State>, from: string, targets: readonly { name: string; sends: number }[]): void {
  const names = targets.map(({ name }) => name);
  const chosen = targets.flatMap(({ name, sends }): Target[] =>
    sends === 0 ? [name] : Array.from({ length: sends }, (_, arg) => send(name, arg)),
  );
  builder.branch(from, () => chosen, names);
}

function addNode(builder: Graph<State>, name: string, one: Shape, world: World, tame: boolean): void {
  const work = (target: Graph<State>, node: string): Graph<State> =>
    target.node(node, (state, ctx) => {
      const label = `${name}${node === name ? "" : `/${node}`}${ctx.arg ?? ""}`;
      const answers: string[] = [];
      for (let count = 0; count < one.questions; count += 1) {
        const question = `${label}?${count}`;
        answers.push(tame ? answerTo(question) : ctx.interrupt<string>(question));
      }
      world.visit(`${ctx.task}`, tame ? 0 : one.failures);
      return { out: [`${label}(${answers.join()})@${state.out.length}`] };
    });
  if (!one.nested) {
    work(builder, name);
    return;
  }
  const inner = graph<State>("inner").reduce({ out: append });
  work(work(inner, "first"), "second").edge(START, "first").edge("first", "second").edge("second", END);
  builder.graph(name, inner, {
    input: (_, arg) => ({ out: [`in${arg ?? ""}`] }),
    output: ({ out }) => ({ out: [`${name}[${out.join()}]`] }),
  });
}

export function answerTo(question: unknown): string {
  return `answer to ${question}`;
}
