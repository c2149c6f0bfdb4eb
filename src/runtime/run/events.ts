import type { CheckpointInfo, Interrupt } from "../../model/checkpoint.ts";
import type { RunError } from "../errors.ts";
import type { Declared, FlowTypes } from "../graph/flow-types.ts";

interface InTask {
  /** The namespace of the graph: `[]` for the outer graph, a path for a nested one. */
  readonly namespace: readonly string[];
  readonly step: number;
  readonly node: string;
  /** The task's key, as in `ctx.task`. */
  readonly task: string;
}

/** An open question, with the payload of `ctx.interrupt` as its value. */
export type Question<Types extends FlowTypes = FlowTypes> = Interrupt & { readonly value: Declared<Types, "question"> };

/** An event of a run. Events come in the order in which they happen. */
export type FlowEvent<State = unknown, Types extends FlowTypes = FlowTypes> =
  | { readonly type: "start"; readonly run: string; readonly thread: string | undefined; readonly resumed: boolean }
  | (InTask & { readonly type: "task"; readonly attempt: number })
  | (InTask & { readonly type: "retry"; readonly attempt: number; readonly error: unknown })
  | (InTask & { readonly type: "emit"; readonly data: Declared<Types, "emit"> })
  /** A task has finished. Its update is applied at the end of the step. */
  | (InTask & { readonly type: "update"; readonly update: Partial<State> | undefined })
  | (InTask & { readonly type: "interrupt"; readonly interrupts: readonly Question<Types>[] })
  | (InTask & { readonly type: "error"; readonly error: unknown })
  /** The end of a step. `checkpoint` is undefined while it is not known to be in the store, which with `sync` it always is. */
  | {
      readonly type: "step";
      readonly namespace: readonly string[];
      readonly step: number;
      readonly state: State;
      readonly next: readonly string[];
      readonly checkpoint: CheckpointInfo | undefined;
    }
  | { readonly type: "end"; readonly result: RunResult<State, Types> };

/** The outcome of a run. A run that fails rejects instead. */
export interface RunResult<State = unknown, Types extends FlowTypes = FlowTypes> {
  /** `interrupted`: the run waits for answers (see `interrupts`), a signal or a time (see `due`), or at a breakpoint. `cancelled`: by `flow.cancel`. */
  readonly status: "done" | "interrupted" | "cancelled";
  readonly state: State;
  /** The last checkpoint; undefined for a run without a thread. */
  readonly checkpoint: CheckpointInfo | undefined;
  readonly interrupts: readonly Question<Types>[];
  readonly run: string;
  /** When the run goes on by itself, woken by a worker or `recover`: the earliest end of a sleep or a time limit. */
  readonly due?: number;
  /** Joins that some of their nodes have reached and that no task can complete any more. Absent where there are none. */
  readonly unmetJoins?: readonly UnmetJoin[];
  /** Errors of tasks whose node has `onError: "collect"`, in this call. Absent where there are none. */
  readonly errors?: readonly RunError[];
}

/** A join that was never complete. */
export interface UnmetJoin {
  readonly node: string;
  /** The nodes that the join waits for and that ran. */
  readonly arrived: readonly string[];
  /** The nodes that the join waits for and that did not run. */
  readonly missing: readonly string[];
}
