export type { Context } from "./context.ts";
export type { NodeOptions, Retry } from "./definition.ts";
export type { UpdateOptions } from "./edit.ts";
export { RunError, type RunErrorCode } from "./errors.ts";
export type { FlowEvent, RunResult } from "./events.ts";
export { Flow, type FlowState } from "./flow.ts";
export {
  type CompileOptions,
  Graph,
  type GraphOptions,
  graph,
  type NestedOptions,
  type NodeFunction,
  type NodeResult,
} from "./graph.ts";
export type { Durability } from "./journal.ts";
export type { LeaseOptions } from "./lease-keeper.ts";
export type { ResumeOptions, RunOptions, WalkOptions } from "./options.ts";
export type { Recovered, RecoverOptions } from "./recovery.ts";
export { append, merge, type Reducer, type Reducers } from "./reducers.ts";
export type { Issue, Schema } from "./schema.ts";
export { type Command, END, type Goto, type Send, START, send, type Target } from "./targets.ts";
