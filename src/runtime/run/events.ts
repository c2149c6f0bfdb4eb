import type { CheckpointInfo, Interrupt } from "../../model/checkpoint.ts";

interface InTask {
  /** Where the graph is that this happened in: `[]`, or the path of a nested one. */
  readonly namespace: readonly string[];
  readonly step: number;
  readonly node: string;
  /** As `ctx.task`. */
  readonly task: string;
}

/** What happens in a run, in the order it happens. */
export type FlowEvent<State = unknown> =
  | { readonly type: "start"; readonly run: string; readonly thread: string | undefined; readonly resumed: boolean }
  | (InTask & { readonly type: "task"; readonly attempt: number })
  | (InTask & { readonly type: "retry"; readonly attempt: number; readonly error: unknown })
  | (InTask & { readonly type: "emit"; readonly data: unknown })
  /** A task has ended: what it changes, once the step is through. */
  | (InTask & { readonly type: "update"; readonly update: Partial<State> | undefined })
  | (InTask & { readonly type: "interrupt"; readonly interrupts: readonly Interrupt[] })
  | (InTask & { readonly type: "error"; readonly error: unknown })
  /** A boundary. `checkpoint` is there as soon as the checkpoint is known to be in the store: always with `sync`. */
  | {
      readonly type: "step";
      readonly namespace: readonly string[];
      readonly step: number;
      readonly state: State;
      readonly next: readonly string[];
      readonly checkpoint: CheckpointInfo | undefined;
    }
  | { readonly type: "end"; readonly result: RunResult<State> };

/** How a run ended. A run that fails rejects instead. */
export interface RunResult<State = unknown> {
  /** `interrupted`: it waits for answers (see `interrupts`), or a breakpoint fired. */
  readonly status: "done" | "interrupted";
  readonly state: State;
  /** The last checkpoint; undefined for a run without a thread. */
  readonly checkpoint: CheckpointInfo | undefined;
  readonly interrupts: readonly Interrupt[];
  readonly run: string;
}
