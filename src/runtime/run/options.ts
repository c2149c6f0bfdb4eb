import type { Definition } from "../graph/definition.ts";
import type { Goto } from "../graph/targets.ts";
import type { Durability } from "../thread/journal.ts";
import type { Breaks } from "../thread/position.ts";
import type { FlowEvent } from "./events.ts";

/** How to run; what is not given is as `compile` was told, or the default. */
export interface WalkOptions<State = unknown> {
  /** When boundaries are written; see {@link Durability}. Default "sync". */
  readonly durability?: Durability;
  /** Stop before these nodes run. A resumed run keeps the breakpoints of the one it continues, unless it is given others. */
  readonly breakBefore?: readonly string[];
  /** Stop after these nodes ran. */
  readonly breakAfter?: readonly string[];
  /** Steps this call may take. Default 100. */
  readonly maxSteps?: number;
  /** Tasks of a step that may run at the same time. Default: all of them. */
  readonly concurrency?: number;
  /** Aborts the run, and the `ctx.signal` of its nodes. */
  readonly signal?: AbortSignal;
  /** When another run holds the thread: fail with `BUSY`, or wait until it is free. Default "fail". */
  readonly ifBusy?: "fail" | "wait";
  /** Called with every event of the run, as it happens. */
  readonly on?: (event: FlowEvent<State>) => void;
}

export interface RunOptions<State = unknown> extends WalkOptions<State> {
  /** Where the run is kept. Without one nothing is, and it can neither be interrupted nor resumed. */
  readonly thread?: string;
  /** The run's id. Running again under the id of the thread's last run continues that, or gives its result again. */
  readonly run?: string;
  /**
   * When the thread's last run is unfinished: fail with `UNFINISHED`, `continue` that run (the input is not used), or
   * `restart` from START with the input on the state as it is, dropping what was pending. Default "fail".
   */
  readonly ifUnfinished?: "fail" | "continue" | "restart";
}

export interface ResumeOptions<State = unknown> extends WalkOptions<State> {
  readonly thread: string;
  /** The answer to all open interrupts, or an object of answers by interrupt id. */
  readonly value?: unknown;
  /** Changes the state first, through the reducers. */
  readonly update?: Partial<State>;
  /** Where to go instead: of what is pending, or, together with `value`, of where the answered tasks would lead. */
  readonly goto?: Goto;
  /** An older checkpoint to go on from. What came after it stays; the run goes on in a branch. */
  readonly from?: string;
}

export interface Settings {
  readonly durability: Durability;
  readonly maxSteps: number;
  readonly concurrency: number;
}

const durabilities: readonly string[] = ["sync", "async", "exit"];

/** The options with their defaults; a TypeError names the one that is wrong. */
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

/** The breakpoints asked for, or undefined when none were mentioned. */
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
