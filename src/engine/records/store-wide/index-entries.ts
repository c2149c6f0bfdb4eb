import type { IndexEntry } from "../../../backend.ts";
import type { AttributeValue } from "../../../model/attributes.ts";
import { byteLength } from "../../../platform/bytes.ts";
import { hashStrings } from "../hash.ts";
import type { Meta } from "../meta.ts";
import type { StatusCode } from "./index-state.ts";

/**
 * The texts under which a thread is found. Fields that may contain anything end with a separator that sorts before every
 * character; the separator itself is escaped in them, so that the order of texts is the order of fields.
 *
 * | text | for |
 * | --- | --- |
 * | `s` status time | lists by activity, counts |
 * | `w` workflow, status time | likewise for a workflow |
 * | `a` name, value, status time | likewise for an attribute |
 * | `r` run | the threads of a run; stays when a thread goes on to another run, and is proved on reading |
 * | `l` time | leases by their end |
 * | `d` workflow, time | threads by when they are due |
 * | `!` | every thread of the store is in the index |
 */

/** The entry that says that every thread of the store is in the index. */
export const COMPLETE = "!";

const SEPARATOR = "\u0001";
const ESCAPE = "\u0002";
// biome-ignore lint/suspicious/noControlCharactersInRegex: the separator and its escape are control characters, which sort first.
const special = /[\u0001\u0002]/g;

/** A longer field is shortened to its beginning and a hash: it is only looked up, and proved on reading. */
const MOST_BYTES = 200;

function field(text: string): string {
  const escaped = text.replace(special, (one) => (one === SEPARATOR ? `${ESCAPE}${ESCAPE}` : `${ESCAPE}\u0003`));
  return escaped + SEPARATOR;
}

function name(text: string): string {
  if (text.length * 3 <= MOST_BYTES || byteLength(text) <= MOST_BYTES) return field(text);
  const [first, second] = hashStrings(text);
  return `${field([...text].slice(0, 20).join("")).slice(0, -1)}${ESCAPE}\u0004${first.toString(16)}.${second.toString(16)}${SEPARATOR}`;
}

const TIME_DIGITS = 9;
const LAST_TIME = 36 ** TIME_DIGITS - 1;

/** Returns a time in milliseconds as text of one length, in order. */
export function timeText(time: number): string {
  return Math.max(0, Math.min(LAST_TIME, Math.floor(time)))
    .toString(36)
    .padStart(TIME_DIGITS, "0");
}

/** Returns the time at the end of a text. */
export function timeOf(text: string): number {
  return Number.parseInt(text.slice(-TIME_DIGITS), 36);
}

/** Sorts behind every time. */
export const AFTER_TIMES = "~";

export function statusPrefix(status: StatusCode): string {
  return `s${status}`;
}

/** The texts of which every thread with checkpoints has one. */
export const everyThread: { readonly from: string; readonly to: string } = { from: "s", to: "t" };

export function workflowPrefix(workflow: string, status: StatusCode): string {
  return `w${name(workflow)}${status}`;
}

export function attributePrefix(attribute: string, value: AttributeValue, status: StatusCode): string {
  return `${attributeValuePrefix(attribute, value)}${status}`;
}

export function attributeValuePrefix(attribute: string, value: AttributeValue): string {
  return `a${field(attribute)}${valueText(value)}`;
}

export function runText(run: string): string {
  return `r${name(run)}`;
}

export function leaseText(expires: number): string {
  return `l${timeText(expires)}`;
}

export function duePrefix(workflow: string): string {
  return `d${name(workflow)}`;
}

/** Returns a value as text in the order of values: booleans, numbers, strings. */
function valueText(value: AttributeValue): string {
  if (typeof value === "string") return `s${field(value)}`;
  if (typeof value === "boolean") return `b${value ? 1 : 0}${SEPARATOR}`;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value === 0 ? 0 : value);
  const bits = view.getBigUint64(0);
  // The bits of positive numbers ascend, those of negative ones descend.
  const ordered = bits >> 63n === 0n ? bits | (1n << 63n) : ~bits & 0xffff_ffff_ffff_ffffn;
  return `n${ordered.toString(16).padStart(16, "0")}${SEPARATOR}`;
}

/** Returns the text that all values of an attribute of this type begin with. */
export function attributeTypePrefix(attribute: string, type: "string" | "number" | "boolean"): string {
  return `a${field(attribute)}${type[0]}`;
}

/** Returns the text that all strings of an attribute with this beginning begin with. */
export function attributeTextPrefix(attribute: string, beginning: string): string {
  return attributeValuePrefix(attribute, beginning).slice(0, -1);
}

/** Begins a field that is hidden. No other field begins so. */
const BLINDED = `${ESCAPE}\u0005`;

/** Returns the part of a text that tells about its thread: a name, or an attribute with its value. Undefined where there is none. */
export function fieldsToBlind(text: string): string | undefined {
  const kind = text[0] as string;
  if (!"wrda".includes(kind) || text.startsWith(BLINDED, 1)) return undefined;
  const first = text.indexOf(SEPARATOR);
  const last = kind === "a" && first > 0 ? text.indexOf(SEPARATOR, first + 1) : first;
  return last < 0 ? undefined : text.slice(1, last);
}

/** Returns a text with a blind in the place of its fields. */
export function blindedFields(text: string, fields: string, blind: string): string {
  return `${text[0]}${BLINDED}${blind}${text.slice(1 + fields.length)}`;
}

/** Returns all texts of a thread but that of its run. A thread without checkpoints, or a dead tape, has none. */
export function textsOf(meta: Meta | undefined): readonly string[] {
  const index = meta?.index;
  if (meta === undefined || index === undefined || meta.dead) return [];
  const state = index.s + timeText(index.t);
  const texts = [`s${state}`];
  if (index.w !== undefined) texts.push(`w${name(index.w)}${state}`);
  for (const [attribute, value] of Object.entries(meta.attributes ?? {})) {
    texts.push(attributeValuePrefix(attribute, value) + state);
  }
  if (meta.lease !== undefined) texts.push(leaseText(meta.lease.expires));
  if (meta.due !== undefined) texts.push(duePrefix(index.w ?? "") + timeText(meta.due));
  return texts;
}

/** The entries that a change of a meta record removes and adds. */
export interface EntryChanges {
  readonly remove: readonly IndexEntry[];
  readonly add: readonly IndexEntry[];
}

/** Compares the entries of two versions of a meta record. `runs` are further runs that the thread is found by. */
export function entryChanges(
  { lineage, number: tape }: { readonly lineage: number; readonly number: number },
  before: Meta | undefined,
  after: Meta | undefined,
  runs: Iterable<string> = [],
): EntryChanges {
  const old = new Set(textsOf(before));
  const now = new Set(textsOf(after));
  const entry = (text: string): IndexEntry => ({ text, lineage, tape });
  const remove = [...old].filter((text) => !now.has(text)).map(entry);
  const add = [...now].filter((text) => !old.has(text)).map(entry);
  const lastRun = before?.index?.r;
  const run = now.size === 0 ? undefined : after?.index?.r;
  if (run !== undefined && run !== lastRun) add.push(entry(runText(run)));
  // Forks of a dead tape are found by its runs.
  if (after === undefined && lastRun !== undefined) remove.push(entry(runText(lastRun)));
  for (const other of runs) if (other !== run) add.push(entry(runText(other)));
  return { remove, add };
}
