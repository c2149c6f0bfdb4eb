export type { Lease } from "./api/lease.ts";
export {
  type AnyOpenOptions,
  type FileOpenOptions,
  type MemoryOpenOptions,
  open,
  type PostgresOpenOptions,
  type SqliteOpenOptions,
} from "./api/open.ts";
export type { ReadableThread } from "./api/readable-thread.ts";
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
export { CodedError, type ErrorCode, type ErrorDetails, type ErrorOf, ThreadmarkError } from "./errors.ts";
export type {
  Activation,
  Barrier,
  Checkpoint,
  CheckpointInfo,
  CheckpointTuple,
  Interrupt,
  Metadata,
  Source,
  ThreadInfo,
  Write,
} from "./model/checkpoint.ts";
export { controlIndexes } from "./model/control-writes.ts";
export type {
  AcquireOptions,
  BreakOptions,
  CheckpointElsewhere,
  CheckpointRef,
  ClassCodec,
  ExportOptions,
  ForkOptions,
  HistoryOptions,
  LatestOptions,
  LeaseToken,
  OpenOptions,
  PruneOptions,
  PutFields,
  PutInput,
  PutOptions,
  StoreOptions,
  ThreadOptions,
  ThreadsOptions,
  Update,
  WorkOptions,
  WritesInput,
  WritesOptions,
} from "./model/options.ts";
export type {
  BrokenLease,
  Change,
  CheckpointSize,
  Fault,
  ImportResult,
  LeaseInfo,
  PruneResult,
  Stats,
  ThreadSize,
  VerifyResult,
  WritesResult,
} from "./model/results.ts";
export type { Status } from "./model/status.ts";
