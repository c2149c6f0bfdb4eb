export { type Issue, RunError, type RunErrorCode } from "./errors.ts";
export { append, merge } from "./graph/built-in-reducers.ts";
export type { NodeOptions, Retry } from "./graph/definition.ts";
export { type Command, END, type Goto, type Send, START, send, type Target } from "./graph/goto.ts";
export {
  type CompileOptions,
  Graph,
  type GraphOptions,
  graph,
  type NestedOptions,
  type NodeFunction,
  type NodeResult,
} from "./graph/graph.ts";
export { type Overwrite, overwrite, type StateUpdate } from "./graph/overwrite.ts";
export type { Reducer, Reducers } from "./graph/reducers.ts";
export type { Schema } from "./graph/schema.ts";
export type { Clock } from "./run/clock.ts";
export type { Context, EmitOptions, InterruptOptions, WaitOptions } from "./run/context.ts";
export type { FlowEvent, RunResult, UnmetJoin } from "./run/events.ts";
export { Flow, type FlowState } from "./run/flow.ts";
export type { LeaseOptions } from "./run/lease-keeper.ts";
export type { ResumeOptions, RunOptions, Started, StartOptions, WalkOptions } from "./run/options.ts";
export type { StreamOptions } from "./run/stream.ts";
export { Worker, type WorkerOptions } from "./run/worker.ts";
export type { UpdateOptions } from "./thread/edit.ts";
export type { FollowOptions, StoredEvent } from "./thread/follow.ts";
export type { ForkFlowOptions } from "./thread/fork-after.ts";
export type { Cancelled, CancelOptions, SignalOptions } from "./thread/from-outside.ts";
export type { Durability } from "./thread/journal.ts";
export type { Recovered, RecoverOptions } from "./thread/recovery.ts";
