import type { State, Step } from "../workloads/workload.ts";

/** Where a system keeps what it is given: what it needs of these. */
export interface Home {
  readonly path: string;
  readonly url: string;
  readonly schema: string;
  readonly fsync: "normal" | "full";
}

export type HomeKind = "none" | "memory" | "file" | "SQLite" | "Postgres";

/** Something that keeps the history of a thread, or (a floor) does the least that anybody would have to do. */
export interface System {
  readonly name: string;
  readonly home: HomeKind;
  readonly kind: "threadmark" | "peer" | "floor";
  /** Whether it takes LangChain messages. Plain objects every system takes. */
  readonly langchain?: boolean;
  /** Works for conversations only: it treats `messages` as a list that grows. */
  readonly conversationOnly?: boolean;
  /** Up to how many steps it is made to write a whole history; longer ones begin with a state of that length. */
  readonly wholeUpTo: number;
  open(home: Home): Promise<Opened>;
}

export interface Opened {
  thread(id: string): Thread;
  /** Bytes on the medium after its logs were folded in and free pages given back; undefined where there is no medium. */
  bytes(): Promise<number | undefined>;
  /** A counter of the bytes written so far, to take differences of. */
  written(): Promise<number | undefined>;
  /** Reads everything back and looks for faults. */
  verify?(): Promise<void>;
  close(): Promise<void>;
}

/** A thread of a system. A measurement calls `begin` first, then `step` for each step. */
export interface Thread {
  begin(state: State): Promise<void> | void;
  /** Does the caller's own work before a step, so that it is kept out of the step's time. */
  prepare?(step: Step): void;
  step(step: Step): Promise<void> | void;
  latest?(): Promise<State> | State;
  /** The state of an older checkpoint; 0 is the one of `begin`. */
  old?(index: number): Promise<State> | State;
  /** How many checkpoints were yielded, newest first. */
  history?(limit: number | undefined, states: boolean): Promise<number>;
  fork?(): Promise<void>;
  prune?(keepLast: number): Promise<void>;
  remove?(): Promise<void>;
}
