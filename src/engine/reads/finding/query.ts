import type { IndexEntry, Read } from "../../../backend.ts";
import { type AttributeCondition, type AttributeValue, conditionOf, matches } from "../../../model/attributes.ts";
import type { ThreadInfo } from "../../../model/checkpoint.ts";
import type { ThreadsOptions } from "../../../model/interface/store-options.ts";
import { type Status, statuses } from "../../../model/status.ts";
import {
  attributePrefix,
  attributeTextPrefix,
  attributeTypePrefix,
  statusPrefix,
  valueBounds,
  workflowPrefix,
} from "../../records/store-wide/index-entries.ts";
import type { StatusCode } from "../../records/store-wide/index-state.ts";
import { codeOf } from "../../view/head-status.ts";

/** Sorts behind every text that a value of 256 bytes can go on with. */
const BEYOND_TEXT = "\u{10ffff}".repeat(65);

/** The questions that a list asks of the index, and the test that each thread found must pass. */
export class ThreadQuery {
  readonly #options: ThreadsOptions;
  readonly #statuses: ReadonlySet<Status>;
  readonly #hidesIds: boolean;

  /** Throws a TypeError for a query that a store with hidden ids cannot answer from its index. */
  constructor(options: ThreadsOptions, hidesIds: boolean) {
    this.#options = options;
    this.#hidesIds = hidesIds;
    if (hidesIds) this.#checkEqualities();
    const { status = statuses } = options;
    this.#statuses = new Set(typeof status === "string" ? [status] : status);
  }

  /** Returns true if threads are left out by more than their place in the list. */
  get isSelective(): boolean {
    const { workflow, run, status, where, updatedAfter, updatedBefore } = this.#options;
    return [workflow, run, status, where, updatedAfter, updatedBefore].some((value) => value !== undefined);
  }

  /** Returns true if running threads have to be looked for by their leases. */
  get seeksRunning(): boolean {
    return this.#statuses.has("running") && this.#options.status !== undefined;
  }

  /** Tells whether a thread matches the query. Its run is not looked at: the rows of the thread prove that. */
  accepts(info: ThreadInfo): boolean {
    const { workflow, prefix, where, updatedAfter, updatedBefore } = this.#options;
    if (!this.#statuses.has(info.status)) return false;
    if (workflow !== undefined && info.workflow !== workflow) return false;
    if (prefix !== undefined && !info.id.startsWith(prefix)) return false;
    if (updatedAfter !== undefined && !(info.updatedAt > updatedAfter)) return false;
    if (updatedBefore !== undefined && !(info.updatedAt < updatedBefore)) return false;
    return where === undefined || matches(info.attributes, where);
  }

  /** Returns texts, each followed by times, under which every thread that is sought can be found by its activity. */
  prefixes(): readonly string[] {
    const { workflow } = this.#options;
    const codes = this.#codes();
    const values = this.#exactValues();
    if (values) {
      return values.flatMap(([name, value]) => codes.map((code) => attributePrefix(name, value, code)));
    }
    if (workflow !== undefined) return codes.map((code) => workflowPrefix(workflow, code));
    return codes.map(statusPrefix);
  }

  /** Returns a read of the entries of one attribute in a range of values, if the query has such a condition and no better one. */
  range(limit: number): Read | undefined {
    if (this.#hidesIds || this.#exactValues()) return undefined;
    for (const [name, condition] of Object.entries(this.#options.where ?? {})) {
      const bounds = rangeOfCondition(name, conditionOf(condition));
      if (bounds) return { find: { ...bounds, limit } };
    }
    return undefined;
  }

  /** Throws a TypeError for a range or a beginning by itself: hidden texts have no order. */
  #checkEqualities(): void {
    const { prefix, where = {}, workflow, run } = this.#options;
    const isExact = workflow !== undefined || run !== undefined || this.#exactValues() !== undefined;
    const ranges = Object.entries(where).filter(([name, one]) => rangeOfCondition(name, conditionOf(one)));
    const fault =
      prefix !== undefined && prefix !== "" ? "prefix" : isExact ? undefined : ranges[0] && `where.${ranges[0][0]}`;
    if (fault === undefined) return;
    throw new TypeError(
      `${fault}: the store hides its ids (encryption.hideIds), so threads are found by whole ids, workflows, runs and values only. ` +
        "Ask for one of those; a range of values may narrow it down.",
    );
  }

  #codes(): readonly StatusCode[] {
    // A thread of any status may be running, unless running threads are found by their leases.
    const sought = this.#options.status === undefined ? statuses : [...this.#statuses];
    return sought.flatMap((status) => codeOf(status) ?? []);
  }

  /** Returns the values, of one attribute, of which a thread must have one. */
  #exactValues(): readonly (readonly [name: string, value: AttributeValue])[] | undefined {
    const conditions = Object.entries(this.#options.where ?? {}).map(
      ([name, condition]) => [name, conditionOf(condition)] as const,
    );
    const exact =
      conditions.find(([, { eq }]) => eq !== undefined) ?? conditions.find(([, one]) => one.in !== undefined);
    if (!exact) return undefined;
    const [name, { eq, in: several = [] }] = exact;
    return (eq === undefined ? [...new Set(several)] : [eq]).map((value) => [name, value] as const);
  }
}

function rangeOfCondition(name: string, condition: AttributeCondition): { from: string; to: string } | undefined {
  const { gt, gte, lt, lte, prefix } = condition;
  if (prefix !== undefined) {
    const from = attributeTextPrefix(name, prefix);
    return { from, to: from + BEYOND_TEXT };
  }
  const least = gte ?? gt;
  const most = lte ?? lt;
  const known = least ?? most;
  if (known === undefined) return undefined;
  const type = typeof known as "string" | "number" | "boolean";
  const whole = attributeTypePrefix(name, type);
  return {
    from: least === undefined ? whole : valueBounds(name, least).from,
    to: most === undefined ? nextText(whole) : valueBounds(name, most).to,
  };
}

/** Returns the least text behind all that begin with this one, which ends with the character of a type. */
function nextText(text: string): string {
  return text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1);
}

/** Returns the tapes of some entries, each once. */
export function tapesOfEntries(entries: readonly IndexEntry[]): readonly { lineage: number; tape: number }[] {
  const tapes = new Map(entries.map(({ lineage, tape }) => [`${lineage}:${tape}`, { lineage, tape }]));
  return [...tapes.values()];
}
