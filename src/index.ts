export type { Lease } from "./api/lease.ts";
export {
  type AnyOpenOptions,
  type FileOpenOptions,
  type MemoryOpenOptions,
  open,
  type PostgresOpenOptions,
  type RedisOpenOptions,
  type SqliteOpenOptions,
} from "./api/open.ts";
export type { ReadableThread } from "./api/readable-thread.ts";
export type { Store } from "./api/store.ts";
export type { Thread } from "./api/thread.ts";
export type { Watch } from "./api/watch.ts";
export {
  type Answer,
  type Backend,
  type Batch,
  type Capabilities,
  type DirectoryKey,
  type Entry,
  type Found,
  type IndexEntry,
  type Key,
  type Listed,
  type LogLine,
  type LogPage,
  type LogRange,
  logBounds,
  type Range,
  type Read,
  type Size,
  type Stored,
  type Table,
  tables,
  type Value,
} from "./backend.ts";
export { CodedError, type ErrorCode, type ErrorDetails, type ErrorOf, ThreadmarkError } from "./errors.ts";
export type {
  AttributeChanges,
  AttributeCondition,
  Attributes,
  AttributeValue,
  Where,
} from "./model/attributes.ts";
export type {
  Activation,
  Barrier,
  Checkpoint,
  CheckpointInfo,
  CheckpointTuple,
  DueThread,
  Interrupt,
  Metadata,
  OpenInterrupt,
  Source,
  ThreadInfo,
  Write,
} from "./model/checkpoint.ts";
export { controlIndexes } from "./model/control-writes.ts";
export type { EncryptionOptions, KeyMaterial, KeyService, NamedKeys } from "./model/interface/encryption.ts";
export type { Erasable, ErasablePart, ErasedPlace, EraseOptions, EraseResult } from "./model/interface/erasure.ts";
export type {
  AcquireOptions,
  BreakOptions,
  CheckpointElsewhere,
  CheckpointRef,
  CopyOptions,
  ForkOptions,
  HistoryOptions,
  LatestOptions,
  LeaseToken,
  PruneOptions,
  PruneSettings,
  PutFields,
  PutInput,
  PutOptions,
  ThreadOptions,
  Update,
  WritesInput,
  WritesOptions,
} from "./model/interface/options.ts";
export type {
  BackupReport,
  BackupResult,
  BrokenLease,
  Change,
  CheckpointSize,
  Counts,
  Fault,
  ImportResult,
  LeaseInfo,
  MeasuredStats,
  PruneResult,
  RestoreResult,
  RotateResult,
  Stats,
  ThreadSize,
  VerifyResult,
  WritesResult,
} from "./model/interface/results.ts";
export type { SchemaIssue, StandardSchema } from "./model/interface/standard-schema.ts";
export type {
  BackupOptions,
  BackupStream,
  ClassCodec,
  DueOptions,
  ExportOptions,
  InterruptsOptions,
  LargeValueOptions,
  OpenOptions,
  ResumableOptions,
  RotateOptions,
  StatsOptions,
  StoredObject,
  StoreOptions,
  SweepOptions,
  ThreadsOptions,
  ValueDriver,
  WatchOptions,
  WorkOptions,
} from "./model/interface/store-options.ts";
export type { ChangeKind, WatchedChange } from "./model/interface/watched-changes.ts";
export type { Patch, PathStep } from "./model/patch.ts";
export type { Duration } from "./model/retention/duration.ts";
export type {
  RetentionOptions,
  RetentionRules,
  SweepReport,
  SweepResult,
  SweptStatus,
} from "./model/retention/sweep.ts";
export type { StateSchema, StateSchemas } from "./model/state-versions.ts";
export type { Status } from "./model/status.ts";
