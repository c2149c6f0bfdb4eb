import type { PathStep } from "../patch.ts";

/** Stands in place of an erased value, and in a text in place of an erased part of it. */
export const ERASED = "[erased]";

/** The part of a thread that a value is found in. */
export type ErasablePart = "state" | "checkpoint" | "metadata" | "label" | "write" | "mail" | "attribute";

/** Decides whether a value goes, by its path in a part of the thread. */
export type ErasableTest = (path: readonly PathStep[], value: unknown, part: ErasablePart) => boolean;

/** A path in the state, several, or a test of every value. */
export type Erasable = readonly PathStep[] | readonly (readonly PathStep[])[] | ErasableTest;

/** Options of `erase`. */
export interface EraseOptions {
  /** Also erase in all threads that share the history: forks, copies and what this one was forked from. @default false */
  readonly forks?: boolean;
  /** Ends the work with the signal's reason; nothing is changed then. @default none */
  readonly signal?: AbortSignal;
}

/** A place that a value was erased from. */
export interface ErasedPlace {
  /** The thread that committed it. Forks show the place, too. */
  readonly thread: string;
  readonly namespace: readonly string[];
  /** The checkpoint's id; null for mail and attributes. */
  readonly checkpoint: string | null;
  readonly part: ErasablePart;
  /** The path in that part; that of a write begins with its channel. */
  readonly path: readonly PathStep[];
}

/** The result of `erase`. */
export interface EraseResult {
  readonly erased: readonly ErasedPlace[];
}

/** A shorter text is erased where it was named only: elsewhere it may stand for something else. */
export const LEAST_TEXT = 6;
