/** A state to save: a plain tree, or (for savers only) a tree with LangChain messages in it. */
export type State = Record<string, unknown>;

/** A task of a super-step that saves its result before the step ends. */
export interface Task {
  readonly task: string;
  readonly channel: string;
  readonly value: unknown;
}

export interface Step {
  /** The state after the step. */
  readonly state: State;
  /** The same, as somebody would say it who knows what changed. */
  readonly update: { readonly append?: Record<string, unknown[] | string>; readonly set?: State };
  /** The JSON of what changed: the least that has to be kept. */
  readonly changed: string;
  /** The value that a graph's node would return, where it is not the update itself: a reducer makes the state of it. */
  readonly returned?: State;
  readonly tasks?: readonly Task[];
}

/** A deterministic history: the same states in every run. */
export interface Workload {
  readonly name: string;
  readonly title: string;
  /** How many steps show what it costs. */
  readonly steps: number;
  /** Whether its states hold LangChain messages, which only savers take. */
  readonly langchain?: boolean;
  initial(): State;
  step(state: State, index: number): Step;
}
