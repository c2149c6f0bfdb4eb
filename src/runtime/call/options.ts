import type { AttributeChanges } from "../../model/attributes.ts";
import type { CheckpointTuple } from "../../model/checkpoint.ts";
import type { Definition } from "../graph/definition.ts";
import type { AnyNodes, Declared, FlowTypes, NodeGoto, NodeName } from "../graph/flow-types.ts";
import type { StateUpdate } from "../graph/overwrite.ts";
import type { Durability } from "../journal/journal-options.ts";
import type { Breaks } from "../position/graph-position.ts";
import type { FlowEvent } from "../run/events.ts";

/** Options of a run. An option that is not given is taken from `compile`, else it has its default. */
export interface WalkOptions<State = unknown, Names extends string = string, Types extends FlowTypes = FlowTypes> {
  /** When checkpoints are written; see {@link Durability}. Default "sync". */
  readonly durability?: Durability;
  /** Stop before these nodes run. A resumed run keeps its breakpoints unless it is given others. Default: none. */
  readonly breakBefore?: readonly Names[];
  /** Stop after these nodes have run. Default: none. */
  readonly breakAfter?: readonly Names[];
  /** The number of steps this call may take. Default 100. */
  readonly maxSteps?: number;
  /** The number of tasks of a step that may run at the same time. Default: all of them. */
  readonly concurrency?: number;
  /** Aborts the run, and the `ctx.signal` of its nodes. Default: none. */
  readonly signal?: AbortSignal;
  /** While another run holds the thread: fail with `BUSY`, or wait until it is free. Default "fail". */
  readonly ifBusy?: "fail" | "wait";
  /** A listener for the run's events. The run waits for the promise it returns before its next step. Default: none. */
  on?(event: FlowEvent<State, Types>): unknown;
}

/** Options of `flow.run` and `flow.stream`. */
export interface RunOptions<State = unknown, Names extends string = string, Types extends FlowTypes = FlowTypes>
  extends WalkOptions<State, Names, Types> {
  /** The thread to run on. A run without a thread keeps nothing, and can neither be interrupted nor resumed. Default: none. */
  readonly thread?: string;
  /** The run's id. The id of the thread's last run continues that run, or returns its result again. Default: a random id. */
  readonly run?: string;
  /**
   * While the thread's last run is unfinished: fail with `UNFINISHED`, `continue` that run (the input is not used), or
   * `restart` from START with the input on the state as it is, dropping pending tasks. Default "fail".
   */
  readonly ifUnfinished?: "fail" | "continue" | "restart";
}

/** Options of `flow.resume`: the thread, and how its run goes on. */
export interface ResumeOptions<State = unknown, Nodes extends object = AnyNodes, Types extends FlowTypes = FlowTypes>
  extends WalkOptions<State, NodeName<Nodes>, Types> {
  /** The thread whose run goes on. */
  readonly thread: string;
  /** A plain answer, to every open question. Default: none. */
  readonly value?: Declared<Types, "answer">;
  /** Answers by question id. Refused as a whole with `NO_INTERRUPT` if one of these questions is not open. Default: none. */
  readonly answers?: Readonly<Record<string, Declared<Types, "answer">>>;
  /** An update of the state, made through the reducers before the run goes on. Default: none. */
  readonly update?: StateUpdate<State>;
  /** Targets that replace the pending tasks or, together with an answer, the targets of the answered tasks. Default: none. */
  readonly goto?: NodeGoto<Nodes>;
  /** An older checkpoint to go on from, in a branch: later checkpoints stay. Default: the head. */
  readonly from?: string;
}

/** Options of `flow.start`. */
export interface StartOptions {
  /** The thread to run on. */
  readonly thread: string;
  /** The run's id: a run is started once under an id. Default: a random id. */
  readonly run?: string;
  /** Values to find the thread by, merged into those it has, as with `put`. Default: none. */
  readonly attributes?: AttributeChanges;
  /** While the thread's last run is unfinished: fail with `UNFINISHED`, or `restart` and drop it. Default "fail". */
  readonly ifUnfinished?: "fail" | "restart";
}

/** The outcome of `start`. */
export interface Started {
  readonly run: string;
  /** False if the run had been started before, under the same id. */
  readonly started: boolean;
}

/** How `recover` and workers take a run up. */
export interface Taking {
  /** Decides under the lease whether the run can go on. */
  readonly judge: (head: CheckpointTuple) => Promise<boolean>;
  /** How often a run is taken up at one head before it counts as failed. Default: as often as it takes. */
  readonly maxRecoveries?: number;
}

export interface Settings {
  readonly durability: Durability;
  readonly maxSteps: number;
  readonly concurrency: number;
}

const durabilities: readonly string[] = ["sync", "async", "exit"];

/** Returns the options with their defaults. A TypeError names the option that is wrong. */
export function settingsOf({ durability = "sync", maxSteps = 100, concurrency }: WalkOptions): Settings {
  if (!durabilities.includes(durability)) {
    throw new TypeError(`durability must be "sync", "async" or "exit", not ${JSON.stringify(durability)}.`);
  }
  if (!(maxSteps >= 1)) throw new TypeError(`maxSteps must be a number of at least 1, not ${String(maxSteps)}.`);
  if (concurrency !== undefined && !(concurrency >= 1)) {
    throw new TypeError(`concurrency must be a number of at least 1, not ${String(concurrency)}.`);
  }
  return { durability, maxSteps, concurrency: concurrency ?? Number.POSITIVE_INFINITY };
}

/** Returns the breakpoints of the options, or undefined when they mention none. */
export function breaksOf(definition: Definition, options: WalkOptions): Breaks | undefined {
  const { breakBefore, breakAfter } = options;
  if (breakBefore === undefined && breakAfter === undefined) return undefined;
  for (const name of [...(breakBefore ?? []), ...(breakAfter ?? [])]) {
    if (!definition.nodes.has(name)) {
      throw new TypeError(`There is a breakpoint on "${name}", which is not a node of workflow "${definition.name}".`);
    }
  }
  return { before: breakBefore ?? [], after: breakAfter ?? [] };
}
