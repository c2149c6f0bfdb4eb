import type { Interrupt } from "../../model/checkpoint.ts";

/**
 * A place where a task has stopped: a question, a sleep, or a wait for a signal. It is stored with its task, and an answer is
 * stored under its id: a person's, the payload of a signal, or what holds once the time is up.
 */
export interface Stop extends Interrupt {
  /** Absent for a question. */
  readonly kind?: "sleep" | "signal";
  /** The name of the signal. */
  readonly signal?: string;
  /** When the time is up, in milliseconds since 1970; then `otherwise` is the answer. */
  readonly until?: number;
  readonly otherwise?: unknown;
  /** True if the task had this answer already when it stopped elsewhere. */
  readonly answered?: true;
}

/*
 * An id is the task's key, a tilde, and what tells the stops of a task apart: a number (the n-th question), `~key` (a question
 * by its key), `.id` (of a nested graph), `s` a remembered step, `w` a wait for a signal, `z` a sleep. Ids are safe in a
 * url: every other character is written as `_` and its code.
 */

/** Returns the id of the n-th question of a task that has no key. */
export function questionId(task: string, count: number): string {
  return `${safe(task)}~${count}`;
}

/** Returns the id of the n-th question that a task asks under a key: another payload makes it another question. */
export function keyedQuestionId(task: string, key: string, count: number): string {
  return `${safe(task)}~~${safe(key)}${count === 0 ? "" : `~${count}`}`;
}

/** Returns the id of a remembered step. */
export function stepId(task: string, name: string): string {
  return `${safe(task)}~s${safe(name)}`;
}

/** Returns the id of a task's n-th wait for a signal. */
export function waitId(task: string, name: string, count: number): string {
  return `${safe(task)}~w${safe(name)}~${count}`;
}

/** Returns the id of a task's n-th sleep. */
export function sleepId(task: string, count: number): string {
  return `${safe(task)}~z${count}`;
}

/** Returns the id that a stop of a nested graph has for the task that is the graph. */
export function outerId(task: string, inner: string): string {
  return `${safe(task)}~.${inner}`;
}

/** Returns the id of a stop inside a nested graph; undefined if it is not one of that task's graph. */
export function innerId(task: string, id: string): string | undefined {
  const prefix = `${safe(task)}~.`;
  return id.startsWith(prefix) ? id.slice(prefix.length) : undefined;
}

/** Tells whether a stop or a remembered step belongs to a task. */
export function isOfTask(id: string, task: string): boolean {
  return id.startsWith(`${safe(task)}~`);
}

/** Tells whether an id is that of a remembered step or wait, rather than of a question. */
export function isRemembered(id: string): boolean {
  return /(?<!~)~[swz][^~]*(?:~\d+)?$/.test(id);
}

/** Tells whether a text looks like the id of a question, as the runtime makes them. */
export function looksLikeId(text: string): boolean {
  return /^\d+\.\d+~/.test(text);
}

export function isQuestion(stop: Stop): boolean {
  return stop.kind === undefined;
}

/** Writes every character that is not a letter, a digit, a dot or a hyphen as `_`, its code in hexadecimal, and `_`. */
function safe(text: string): string {
  return text.replace(/[^A-Za-z0-9.-]/gu, (character) => `_${(character.codePointAt(0) as number).toString(16)}_`);
}
