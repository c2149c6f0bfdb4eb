import type { Context } from "../run/context.ts";
import type { AnyReducer, Values } from "./reducers.ts";
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

export interface NodeOptions {
  readonly retry?: Retry;
  /** Milliseconds that an attempt may take, after which its `ctx.signal` is aborted. Default: no limit. */
  readonly timeout?: number;
  /** Nodes that this node may go to by returning `{ goto }`. Needed only where `compile` would call a node unreachable. */
  readonly goto?: readonly string[];
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
  readonly reducers: ReadonlyMap<string, AnyReducer>;
  readonly nodes: ReadonlyMap<string, NodeDefinition>;
  readonly edges: ReadonlyMap<string, readonly string[]>;
  readonly branches: ReadonlyMap<string, readonly Branch[]>;
  readonly joins: readonly Join[];
  /** Names that several nodes were given. */
  readonly duplicates: readonly string[];
}

export function isNested(work: AnyNode | Nested): work is Nested {
  return typeof work === "object";
}
