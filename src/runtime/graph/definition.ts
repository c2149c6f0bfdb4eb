import type { Context } from "./context.ts";
import type { AnyReducer } from "./fold.ts";
import type { Values } from "./reducers.ts";
import type { Schema } from "./schema.ts";

/** The attempts that a node gets, and the pauses between them. */
export interface Retry {
  /** Attempts in all. Default 1. */
  readonly attempts: number;
  /** Milliseconds before the second attempt, doubled before each further one. Default 0. */
  readonly backoff?: number;
  /** Returns true for errors that are worth another attempt. Default: every error. */
  readonly when?: (error: unknown) => boolean;
}

/** Options of a node. */
export interface NodeOptions<To extends string = string> {
  /** The attempts that a task gets. Default: one. */
  readonly retry?: Retry;
  /** Milliseconds that an attempt may take, after which its `ctx.signal` is aborted. Default: no limit. */
  readonly timeout?: number;
  /** Nodes that this node may go to by returning `{ goto }`. Needed only where `compile` would call a node unreachable. Default: none. */
  readonly goto?: readonly To[];
  /** A Standard Schema that every answer to a question of this node must fit; its output is the answer. Default: any. */
  readonly answer?: Schema;
  /**
   * After a task's last attempt: `fail` the run, or `collect` the error: the task ends without an update, its siblings are used,
   * and `result.errors` of the run and the `error` event tell. Default "fail".
   */
  readonly onError?: "fail" | "collect";
}

export type AnyNode = (state: Values, context: Context) => unknown;
export type AnyBranch = (state: Values) => unknown;

/** A graph that runs as a node of another. */
export interface Nested {
  readonly definition: Definition;
  readonly input: (state: Values, arg: unknown) => unknown;
  readonly output: (result: Values, state: Values) => unknown;
}

export interface NodeDefinition {
  readonly name: string;
  readonly work: AnyNode | Nested;
  readonly options: NodeOptions;
}

export interface Branch {
  readonly choose: AnyBranch;
  /** The declared targets; undefined if none were declared. */
  readonly targets: readonly string[] | undefined;
}

/** A node that waits until all of `sources` have run. */
export interface Join {
  readonly sources: readonly string[];
  readonly target: string;
}

/** A graph as data: collected by the builder, read by everything else. */
export interface Definition {
  readonly name: string;
  readonly schema: Schema | undefined;
  /** The version of the state's shape; undefined counts as 1. */
  readonly version: number | undefined;
  /** True if the store migrates states and stamps versions, as it was opened with a schema. */
  readonly storeMigrates?: boolean;
  /** Migrations of the state, by the version they start from. */
  readonly migrate: ReadonlyMap<number, (state: Values) => unknown>;
  /** New names of nodes, by their old ones. */
  readonly renamed: ReadonlyMap<string, string>;
  readonly reducers: ReadonlyMap<string, AnyReducer>;
  readonly nodes: ReadonlyMap<string, NodeDefinition>;
  readonly edges: ReadonlyMap<string, readonly string[]>;
  readonly branches: ReadonlyMap<string, readonly Branch[]>;
  readonly joins: readonly Join[];
  /** Names that several nodes were given. */
  readonly duplicates: readonly string[];
}

/** Returns the version that checkpoints are to be put with; undefined to leave that to the store. */
export function writtenVersion({ version, storeMigrates }: Definition): number | undefined {
  return storeMigrates ? undefined : version;
}

/** Returns the names that a node had in earlier versions of its graph. A name that the graph has still means that node. */
export function earlierNames({ nodes, renamed }: Definition, node: string): readonly string[] {
  return [...renamed].flatMap(([old, now]) => (now === node && !nodes.has(old) ? old : []));
}

export function isNested(work: AnyNode | Nested): work is Nested {
  return typeof work === "object";
}
