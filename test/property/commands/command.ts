import fc from "fast-check";
import type { Thread } from "../../../src/api/thread.ts";
import { type Line, lineOf, type NaiveThread, type Namespace } from "../naive/thread.ts";
import type { Free } from "../states.ts";
import { type Model, pickNamespace, pickThread, type System } from "../system.ts";

export type Commands = fc.Arbitrary<fc.AsyncCommand<Model, System>>;

type Run<Choice> = (choice: Choice, model: Model, real: System) => Promise<void>;
type Check<Choice> = (choice: Choice, model: Readonly<Model>) => boolean;

/** A command of one kind: the choice that was drawn for it, and what it does to the model and to the store. */
class Chosen<Choice> implements fc.AsyncCommand<Model, System> {
  readonly #name: string;
  readonly #choice: Choice;
  readonly #run: Run<Choice>;
  readonly #check: Check<Choice>;

  constructor(name: string, choice: Choice, run: Run<Choice>, check: Check<Choice>) {
    this.#name = name;
    this.#choice = choice;
    this.#run = run;
    this.#check = check;
  }

  check(model: Readonly<Model>): boolean {
    return this.#check(this.#choice, model);
  }

  run(model: Model, real: System): Promise<void> {
    return this.#run(this.#choice, model, real);
  }

  toString(): string {
    return `${this.#name}(${fc.stringify(this.#choice)})`;
  }
}

/** Returns commands that each run one of the choices. A failing sequence shows them as `name(choice)`. */
export function commands<Choice>(
  name: string,
  choices: fc.Arbitrary<Choice>,
  run: Run<Choice>,
  check: Check<Choice> = () => true,
): Commands {
  return choices.map((choice) => new Chosen(name, choice, run, check));
}

/** Returns the command that has nothing to choose. */
export function command(name: string, run: (model: Model, real: System) => Promise<void>): Commands {
  return commands(name, fc.constant({}), (_, model, real) => run(model, real));
}

/** Numbers that pick a thread and a namespace among those of the moment. */
export interface LineChoice {
  readonly thread: number;
  readonly namespace: number;
}

export const anyThread: fc.Arbitrary<number> = fc.nat({ max: 20 });
const anyNamespace: fc.Arbitrary<number> = fc.nat({ max: 5 });
export const anyPick: fc.Arbitrary<number> = fc.nat({ max: 1000 });
export const lineChoice: { readonly thread: fc.Arbitrary<number>; readonly namespace: fc.Arbitrary<number> } = {
  thread: anyThread,
  namespace: anyNamespace,
};

/** A namespace of a thread, on both sides. */
export interface ChosenLine {
  readonly thread: NaiveThread;
  readonly namespace: Namespace;
  readonly line: Line;
  readonly handle: Thread<Free>;
}

/** Returns the namespace that a choice picks. */
export function chosenLine(choice: LineChoice, model: Model, real: System): ChosenLine {
  const thread = pickThread(model, choice.thread);
  const namespace = pickNamespace(choice.namespace);
  return { thread, namespace, line: lineOf(thread, namespace), handle: real.store.thread(thread.id, { namespace }) };
}
