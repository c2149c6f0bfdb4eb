export type { ResumeOptions, RunOptions, Started, StartOptions, WalkOptions } from "./call/options.ts";
export type { Clock } from "./control/clock.ts";
export { type Issue, RunError, type RunErrorCode } from "./errors.ts";
export { Flow, type FlowState } from "./flow/flow.ts";
export {
  type CompileOptions,
  Graph,
  type GraphOptions,
  graph,
  type NestedOptions,
  type NodeFunction,
  type NodeResult,
} from "./flow/graph.ts";
export type { StreamOptions } from "./flow/stream.ts";
export { append, merge } from "./graph/built-in-reducers.ts";
export type { Context, EmitOptions, InterruptOptions, WaitOptions } from "./graph/context.ts";
export type { NodeOptions, Retry } from "./graph/definition.ts";
export { type Command, END, type Goto, type Send, START, send, type Target } from "./graph/goto.ts";
export { type Overwrite, overwrite, type StateUpdate } from "./graph/overwrite.ts";
export type { Reducer, Reducers } from "./graph/reducers.ts";
export type { Schema } from "./graph/schema.ts";
export type { Durability } from "./journal/journal.ts";
export type { UpdateOptions } from "./outside/edit.ts";
export type { FollowOptions, StoredEvent } from "./outside/follow.ts";
export type { ForkFlowOptions } from "./outside/fork-after.ts";
export type { Cancelled, CancelOptions, SignalOptions } from "./outside/from-outside.ts";
export type { FlowEvent, RunResult, UnmetJoin } from "./run/events.ts";
export type { LeaseOptions } from "./run/lease-keeper.ts";
export type { Recovered, RecoverOptions } from "./work/recovery.ts";
export { Worker, type WorkerOptions } from "./work/worker.ts";
