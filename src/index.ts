export type { Lease } from "./api/lease.ts";
export { open } from "./api/open.ts";
export type { Store } from "./api/store.ts";
export type { Thread } from "./api/thread.ts";
export {
  type Answer,
  type Backend,
  type Batch,
  type Capabilities,
  type DirectoryKey,
  type Entry,
  type Found,
  type Key,
  type Listed,
  type Range,
  type Read,
  type Size,
  type Table,
  tables,
  type Value,
} from "./backend.ts";
export type { ImportResult } from "./engine/bundles/import.ts";
export { type ErrorCode, type ErrorDetails, ThreadmarkError } from "./errors.ts";
export type {
  AcquireOptions,
  BreakOptions,
  BrokenLease,
  Change,
  CheckpointSize,
  ClassCodec,
  Fault,
  ForkOptions,
  HistoryOptions,
  LeaseInfo,
  LeaseToken,
  OpenOptions,
  PruneOptions,
  PruneResult,
  PutInput,
  PutOptions,
  Stats,
  ThreadSize,
  ThreadsOptions,
  Update,
  VerifyResult,
  WorkOptions,
  WritesInput,
} from "./model/arguments.ts";
export type {
  Activation,
  Barrier,
  Checkpoint,
  CheckpointInfo,
  CheckpointTuple,
  Interrupt,
  Metadata,
  Source,
  Status,
  ThreadInfo,
  Write,
} from "./model/checkpoint.ts";
