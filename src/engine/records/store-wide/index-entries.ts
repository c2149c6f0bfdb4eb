import type { IndexEntry } from "../../../backend.ts";
import type { AttributeValue } from "../../../model/attributes.ts";
import { byteLength } from "../../../platform/bytes.ts";
import { hashStrings } from "../hash.ts";
import type { Meta } from "../meta.ts";
import { type StatusCode, tenthsOf } from "./index-state.ts";

/**
 * The texts under which a thread is found. A status or the type of a value is a control character, which also ends the field
 * before it and sorts before every other character; in fields those are escaped, so that the order of texts is the order of fields.
 *
 * | text | for |
 * | --- | --- |
 * | `s`, status, time | lists by activity, counts |
 * | `w`, workflow, status, time | likewise for a workflow |
 * | `a`, name, type, value, status, time | likewise for an attribute |
 * | `r`, run | the threads of a run; stays when a thread goes on to another run, and is proved on reading |
 * | `l`, moment | leases by their end |
 * | `d`, workflow, U+0001, moment | threads by when they are due |
 * | `#` | every thread of the store is in the index |
 */

/** The entry that says that every thread of the store is in the index. Texts of before, which are read no more, had `!`. */
export const COMPLETE = "#";

/** Ends a field that no status or type ends. It also sorts behind a whole text, and before every longer one. */
const END = "\u0001";
/** Begins what is escaped. Sorts behind all characters that end a field, and before all others. */
const ESCAPE = "\u0008";
// biome-ignore lint/suspicious/noControlCharactersInRegex: characters that end a field are control characters, which sort first.
const special = /[\u0001-\u0008]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
const ending = /[\u0001-\u0007]/;

/** A character for each status. */
const statusEnds: Readonly<Record<StatusCode, string>> = {
  w: "\u0001",
  f: "\u0002",
  c: "\u0003",
  d: "\u0004",
  p: "\u0005",
};

/** A character for each type of attributes, in the order of values: booleans, numbers, strings. */
const typeEnds = { boolean: "\u0001", number: "\u0002", string: "\u0003" } as const;

/** A longer field is shortened to its beginning and a hash: it is only looked up, and proved on reading. */
const MOST_BYTES = 200;

/** Follow the escape in place of a hash, and of fields that are hidden. After the escape, characters of a field have digits. */
const HASHED = `${ESCAPE}h`;
const BLINDED = `${ESCAPE}b`;

function field(text: string): string {
  return text.replace(special, (one) => `${ESCAPE}${one.charCodeAt(0)}`);
}

function name(text: string): string {
  if (text.length * 3 <= MOST_BYTES || byteLength(text) <= MOST_BYTES) return field(text);
  const [first, second] = hashStrings(text);
  return `${field([...text].slice(0, 20).join(""))}${HASHED}${first.toString(16)}.${second.toString(16)}`;
}

const digits = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
/** The length of a time, with which the texts of lists end. */
export const TIME_DIGITS = 6;
const LAST_TIME = 64 ** TIME_DIGITS - 1;

function tenthsText(tenths: number): string {
  let rest = Math.max(0, Math.min(LAST_TIME, tenths));
  let text = "";
  for (let digit = 0; digit < TIME_DIGITS; digit += 1) {
    text = digits[rest % 64] + text;
    rest = Math.floor(rest / 64);
  }
  return text;
}

/** Returns the tenth of a second that a time is in as text of one length, in order: until the year 2187, which later times count as. */
export function timeText(time: number): string {
  return tenthsText(tenthsOf(time));
}

/** Returns the text behind those of all times up to this one. */
export function timeTextBehind(time: number): string {
  const tenths = tenthsOf(time) + 1;
  return tenths > LAST_TIME ? AFTER_TIMES : tenthsText(tenths);
}

/** The value of each digit, by its character's code. */
const digitValues: readonly number[] = Array.from({ length: 128 }, (_, code) =>
  digits.indexOf(String.fromCharCode(code)),
);

/** Returns the time at the end of a text. */
export function timeOf(text: string): number {
  let tenths = 0;
  for (let at = text.length - TIME_DIGITS; at < text.length; at += 1) {
    tenths = tenths * 64 + (digitValues[text.charCodeAt(at)] as number);
  }
  return tenths * 100;
}

/** Sorts behind every time. */
export const AFTER_TIMES = "~";

/** Sorts behind every status that follows a field, and before the texts of a longer one. */
export const AFTER_STATUSES: string = ESCAPE;

const MOMENT_DIGITS = 9;
const LAST_MOMENT = 36 ** MOMENT_DIGITS - 1;

/** Returns an exact time in milliseconds as text of one length, in order. */
export function momentText(time: number): string {
  return Math.max(0, Math.min(LAST_MOMENT, Math.floor(time)))
    .toString(36)
    .padStart(MOMENT_DIGITS, "0");
}

export function statusPrefix(status: StatusCode): string {
  return `s${statusEnds[status]}`;
}

/** The texts of which every thread with checkpoints has one. */
export const everyThread: { readonly from: string; readonly to: string } = { from: "s", to: "t" };

export function workflowPrefix(workflow: string, status: StatusCode): string {
  return `w${name(workflow)}${statusEnds[status]}`;
}

/** Returns the part of a workflow's text that comes before status and time. */
export function workflowPart(text: string): string {
  return text.slice(0, -1 - TIME_DIGITS);
}

export function attributePrefix(attribute: string, value: AttributeValue, status: StatusCode): string {
  return valueBounds(attribute, value).from + statusEnds[status];
}

/** Returns the text that those of a value begin with, and the text behind all of them, before those of the next value. */
export function valueBounds(attribute: string, value: AttributeValue): { readonly from: string; readonly to: string } {
  const from = attributeTypePrefix(attribute, typeof value as keyof typeof typeEnds) + valueText(value);
  return { from, to: from + AFTER_STATUSES };
}

export function runText(run: string): string {
  return `r${name(run)}`;
}

/** Returns the text right behind another: nothing is between the two. */
export function textBehind(text: string): string {
  return text + END;
}

export function leaseText(expires: number): string {
  return `l${momentText(expires)}`;
}

export function duePrefix(workflow: string): string {
  return `d${name(workflow)}${END}`;
}

/** Returns a value as text in the order of values of its type. */
function valueText(value: AttributeValue): string {
  if (typeof value === "string") return field(value);
  if (typeof value === "boolean") return value ? "1" : "0";
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value === 0 ? 0 : value);
  const bits = view.getBigUint64(0);
  // The bits of positive numbers ascend, those of negative ones descend.
  const ordered = bits >> 63n === 0n ? bits | (1n << 63n) : ~bits & 0xffff_ffff_ffff_ffffn;
  // Without the zeros at its end, of which most numbers have many, a text sorts as with them.
  return ordered.toString(16).padStart(16, "0").replace(/0+$/, "");
}

/** Returns the text that all values of an attribute of this type begin with. */
export function attributeTypePrefix(attribute: string, type: keyof typeof typeEnds): string {
  return `a${field(attribute)}${typeEnds[type]}`;
}

/** Returns the text that all strings of an attribute with this beginning begin with. */
export function attributeTextPrefix(attribute: string, beginning: string): string {
  return attributeTypePrefix(attribute, "string") + field(beginning);
}

/** Returns the part of a text that tells about its thread: a name, or an attribute with its value. Undefined where there is none. */
export function fieldsToBlind(text: string): string | undefined {
  const kind = text[0] as string;
  if (!"wrda".includes(kind) || text.startsWith(BLINDED, 1)) return undefined;
  const first = text.search(ending);
  if (kind === "r" && first < 0) return text.length === 1 ? undefined : text.slice(1);
  if (kind !== "a" || first < 0) return first < 0 ? undefined : text.slice(1, first);
  const length = text.slice(first + 1).search(ending);
  return length < 0 ? undefined : text.slice(1, first + 1 + length);
}

/** Returns a text with a blind in place of its fields. */
export function blindedFields(text: string, fields: string, blind: string): string {
  return `${text[0]}${BLINDED}${blind}${text.slice(1 + fields.length)}`;
}

/** Returns all texts of a thread but that of its run. A thread without checkpoints, or a dead tape, has none. */
export function textsOf(meta: Meta | undefined): readonly string[] {
  const index = meta?.index;
  if (meta === undefined || index === undefined || meta.dead) return [];
  const time = timeText(index.t);
  const texts = [statusPrefix(index.s) + time];
  if (index.w !== undefined) texts.push(workflowPrefix(index.w, index.s) + time);
  for (const [attribute, value] of Object.entries(meta.attributes ?? {})) {
    texts.push(attributePrefix(attribute, value, index.s) + time);
  }
  if (meta.lease !== undefined) texts.push(leaseText(meta.lease.expires));
  if (meta.due !== undefined) texts.push(duePrefix(index.w ?? "") + momentText(meta.due));
  return texts;
}

/** The entries that a change of a meta record removes and adds. */
export interface EntryChanges {
  readonly remove: readonly IndexEntry[];
  readonly add: readonly IndexEntry[];
}

/**
 * Compares the entries of two versions of a meta record. `runs` are found with the thread from now on or, if its tape goes, no
 * more. Forks of a dead tape are found by its runs.
 */
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
  const changed = after === undefined ? remove : add;
  for (const run of runs) changed.push(entry(runText(run)));
  return { remove, add };
}
