import type { Delta } from "../../codec/delta/index.ts";
import type { Json } from "../../codec/json.ts";
import type { Attributes } from "../../model/attributes.ts";
import type { MailEntry } from "../records/mail.ts";
import type { RowRecord } from "../records/row.ts";
import type { EncodedWrite } from "../view/shown-writes.ts";

/**
 * The records of a bundle, in order: a header; for each thread itself, its checkpoints with their writes, its messages,
 * an end.
 */
export type BundleRecord =
  | {
      readonly kind: "bundle";
      readonly version: 1 | 2 | 3;
      readonly createdAt: number;
      readonly backup?: BackupHeader;
      /** The wrapped key of the lines that follow, where they are encrypted. */
      readonly encrypted?: string;
    }
  /** A line of an encrypted bundle. */
  | { readonly kind: "sealed"; readonly line: string }
  /** A thread that was deleted since the backup before. */
  | { readonly kind: "deleted"; readonly id: string }
  | {
      readonly kind: "thread";
      readonly id: string;
      readonly createdAt: number;
      /** Absent for none. */
      readonly attributes?: Attributes;
      /** See `Meta.pruner`. */
      readonly pruner?: string;
    }
  /** A large value of the thread. It stands before the records that refer to it by this name. */
  | { readonly kind: "value"; readonly name: string; readonly value: Json }
  | { readonly kind: "checkpoint"; readonly seq: number; readonly row: RowRecord; readonly change: Delta }
  | {
      readonly kind: "writes";
      readonly checkpoint: string;
      readonly namespace: string;
      readonly writes: readonly EncodedWrite[];
    }
  | { readonly kind: "mail"; readonly message: MailEntry }
  | {
      readonly kind: "end";
      readonly id: string;
      readonly checkpoints: number;
      /** How many records of writes there are. Earlier versions did not say. */
      readonly writes?: number;
      /** How many messages there are; absent for none. */
      readonly mail?: number;
    }
  /** Takes back the lines of a thread so far: others changed it meanwhile. The thread may begin again. */
  | { readonly kind: "void"; readonly id: string }
  | { readonly kind: "done"; readonly threads: number; readonly deleted?: number };

/** The part of a header that makes a bundle a backup: the cursor behind what it has, and the one that it goes on from. */
export interface BackupHeader {
  readonly cursor: string;
  readonly since?: string;
}
