import { checkOptions } from "../../model/validation/checks.ts";
import type { ResumeOptions, RunOptions, StartOptions, WalkOptions } from "../call/options.ts";
import type { NodeOptions, Retry } from "../graph/definition.ts";
import type { UpdateOptions } from "../outside/edit.ts";
import type { FollowOptions } from "../outside/follow.ts";
import type { ForkFlowOptions } from "../outside/fork-after.ts";
import type { CancelOptions, SignalOptions } from "../outside/from-outside.ts";
import type { LeaseOptions } from "../run/lease-keeper.ts";
import type { RecoverOptions } from "../work/recovery.ts";
import type { WorkerOptions } from "../work/worker.ts";
import type { CompileOptions, GraphOptions, NestedOptions } from "./graph-options.ts";
import type { StreamOptions } from "./stream.ts";

/** Every option of a call, as a record, so that the compiler finds one that is missing here. */
type Names<Options> = Readonly<Record<keyof Options, true>>;

const defaults = {
  durability: true,
  breakBefore: true,
  breakAfter: true,
  maxSteps: true,
  concurrency: true,
  ifBusy: true,
} as const;
const walk: Names<WalkOptions> = { ...defaults, signal: true, on: true };
const { ifBusy: _, ...work } = walk;
const run: Names<RunOptions> = { ...walk, thread: true, run: true, ifUnfinished: true };
const resume: Names<ResumeOptions> = {
  ...walk,
  thread: true,
  value: true,
  answers: true,
  update: true,
  goto: true,
  from: true,
};
const stream: Names<StreamOptions> = { onLeave: true };
const node: Names<NodeOptions> = { retry: true, timeout: true, goto: true, answer: true, onError: true };
const nested: Names<NestedOptions<unknown, unknown>> = { ...node, input: true, output: true };
const retry: Names<Retry> = { attempts: true, backoff: true, when: true };
const graph: Names<GraphOptions<unknown>> = { schema: true, version: true, migrate: true, renamed: true };
const compile: Names<CompileOptions> = { ...defaults, store: true, lease: true, clock: true };
const lease: Names<LeaseOptions> = { holder: true, ttl: true };
const start: Names<StartOptions> = { thread: true, run: true, attributes: true, ifUnfinished: true };
const recover: Names<RecoverOptions> = { ...work, failed: true };
const worker: Names<WorkerOptions> = { ...work, poll: true, grace: true, maxRecoveries: true, onRun: true };
const update: Names<UpdateOptions> = { as: true, from: true, routesAgain: true };
const fork: Names<ForkFlowOptions<unknown>> = { into: true, update: true, at: true, after: true };
const signal: Names<SignalOptions> = { id: true };
const cancel: Names<CancelOptions> = { reason: true, signal: true };
const follow: Names<FollowOptions> = { after: true, signal: true };

/** The calls that take options, by the name that errors give them. */
type Call =
  | "run"
  | "resume"
  | "stream"
  | "streamResume"
  | "node"
  | "a nested graph"
  | "retry"
  | "graph"
  | "compile"
  | "lease"
  | "start"
  | "recover"
  | "worker"
  | "update"
  | "fork"
  | "signal"
  | "cancel"
  | "follow";

const known: Readonly<Record<Call, Readonly<Record<string, true>>>> = {
  run,
  resume,
  stream: { ...run, ...stream },
  streamResume: { ...resume, ...stream },
  node,
  "a nested graph": nested,
  retry,
  graph,
  compile,
  lease,
  start,
  recover,
  worker,
  update,
  fork,
  signal,
  cancel,
  follow,
};

/** Throws a TypeError for an option that the call does not have, and names the nearest one that it has. */
export function checkKnown(call: Call, options: unknown): void {
  checkOptions(options, Object.keys(known[call]), call);
}
