import type { Context } from "../run/context.ts";
import type { AnyReducer, Values } from "./reducers.ts";
import type { Schema } from "./schema.ts";

/** How often a node is tried, and how long to wait before trying again. */
export interface Retry {
  /** Tries in all; 1 is the default. */
  readonly attempts: number;
  /** Milliseconds before the second try, doubled before each further one. Default 0. */
  readonly backoff?: number;
  /** Whether this error is worth another try; default: every error. */
  readonly when?: (error: unknown) => boolean;
}

export interface NodeOptions {
  readonly retry?: Retry;
  /** Milliseconds an attempt may take; its `ctx.signal` is aborted then. */
  readonly timeout?: number;
  /** Where the node may go by returning `{ goto }`. Needed only where `compile` would find a node unreachable without it. */
  readonly goto?: readonly string[];
}

export type AnyNode = (state: Values, context: Context) => unknown;
export type AnyBranch = (state: Values) => unknown;

/** A graph inside a node. */
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
  /** Where it may lead, when that was declared. */
  readonly targets: readonly string[] | undefined;
}

/** A node that waits until all of `sources` have run. */
export interface Join {
  readonly sources: readonly string[];
  readonly target: string;
}

/** A graph as data: what the builder collects, and everything else reads. */
export interface Definition {
  readonly name: string;
  readonly schema: Schema | undefined;
  readonly reducers: ReadonlyMap<string, AnyReducer>;
  readonly nodes: ReadonlyMap<string, NodeDefinition>;
  readonly edges: ReadonlyMap<string, readonly string[]>;
  readonly branches: ReadonlyMap<string, readonly Branch[]>;
  readonly joins: readonly Join[];
  /** Names that were given to more than one node. */
  readonly duplicates: readonly string[];
}

export function isNested(work: AnyNode | Nested): work is Nested {
  return typeof work === "object";
}
