export { type Issue, RunError, type RunErrorCode } from "./errors.ts";
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
export { append, merge, type Reducer, type Reducers } from "./graph/reducers.ts";
export type { Schema } from "./graph/schema.ts";
export type { Context } from "./run/context.ts";
export type { FlowEvent, RunResult } from "./run/events.ts";
export { Flow, type FlowState } from "./run/flow.ts";
export type { LeaseOptions } from "./run/lease-keeper.ts";
export type { ResumeOptions, RunOptions, WalkOptions } from "./run/options.ts";
export type { UpdateOptions } from "./thread/edit.ts";
export type { Durability } from "./thread/journal.ts";
export type { Recovered, RecoverOptions } from "./thread/recovery.ts";
