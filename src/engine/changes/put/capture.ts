import type { Json } from "../../../codec/json.ts";
import type { ValueCodec } from "../../../codec/values/value.ts";
import type { AttributeChanges } from "../../../model/attributes.ts";
import type { Source } from "../../../model/checkpoint.ts";
import { GrownList } from "../../../model/interface/grown-list.ts";
import type { LeaseToken, PutFields, PutOptions, Update } from "../../../model/interface/options.ts";
import { copyRef } from "../../../model/validation/refs.ts";
import { assign } from "../../../platform/plain-objects.ts";
import type { EngineContext } from "../../memory/context.ts";
import type { TreeOwner } from "../../memory/tree-owner.ts";
import { isPlainState } from "../../records/body.ts";
import { questionIds } from "../../records/row.ts";
import { CapturedGrownList } from "./grown-list.ts";
import type { CapturedPatch } from "./patch.ts";

/** The parts of a body besides the state, encoded. Absent parts take their defaults when the parent is known. */
export interface CapturedParts {
  readonly path: Json | undefined;
  readonly next: Json;
  readonly completed: Json;
  readonly interrupts: Json;
  readonly barriers: Json;
}

export interface CapturedUpdate {
  readonly append: readonly (readonly [key: string, added: Json[] | string])[];
  readonly set: { [key: string]: Json };
  /** Lists that are set, of which the start may be the parent's. */
  readonly grown: readonly (readonly [key: string, list: CapturedGrownList])[];
  readonly unset: readonly string[];
  readonly patch: readonly CapturedPatch[];
}

/** The input of a put, encoded in the call itself: later changes of the caller's objects have no effect. */
export interface CapturedPut {
  readonly namespace: string;
  readonly fields: {
    readonly id: string | undefined;
    readonly step: number | undefined;
    readonly source: Source;
    readonly node: string | null;
    readonly run: string | null | undefined;
    readonly workflow: string | null | undefined;
    readonly label: string;
    readonly createdAt: number | undefined;
    readonly stateVersion: number | undefined;
    readonly metadata: Json;
    readonly questions: readonly string[] | null;
  };
  readonly parts: CapturedParts;
  readonly state: Json | undefined;
  readonly update: CapturedUpdate | undefined;
  /** True if any captured value holds tags. */
  readonly tagged: boolean;
  readonly attributes: AttributeChanges | undefined;
  readonly due: number | null | undefined;
  readonly options: { readonly [K in keyof PutOptions]: PutOptions[K] | undefined };
  /** The owner of the tree that the state was captured against, if any: lent until the put is settled. */
  readonly borrowed: TreeOwner | undefined;
}

type Input = PutFields & { readonly state?: unknown; readonly update?: Update<Record<string, unknown>> };

/** Encodes a validated input. Throws `SERIALIZE` for a value that cannot be stored. */
export function capturePut(
  context: EngineContext,
  thread: string,
  namespace: string,
  input: Input,
  options: PutOptions,
): CapturedPut {
  let tagged = false;
  const encode = (value: unknown, root: string, previous?: Json): Json => {
    const encoded = context.codec.encode(value, root, previous);
    tagged ||= encoded.tagged;
    return encoded.tree;
  };
  const compared = "state" in input || mayShareNodes(input.update?.set);
  const previous = compared ? recentTree(context, thread, namespace) : undefined;
  // Reused nodes do not count as tagged, and the parent may turn out to be another checkpoint, without any tag.
  if (previous?.tagged) tagged = true;
  const state = "state" in input ? encode(input.state, "state", previous?.state) : undefined;
  const update = input.update && captureUpdate(context.codec, input.update, encode, previous?.state);
  const parts: CapturedParts = {
    path: input.path && [...input.path],
    next: captureNext(input.next ?? [], encode),
    completed: input.completed ? [...input.completed] : [],
    interrupts: input.interrupts ? encode(input.interrupts, "interrupts") : [],
    barriers: input.barriers ? encode(input.barriers, "barriers") : [],
  };
  const metadata = input.metadata === undefined ? null : encode(input.metadata, "metadata");
  // Nodes taken over from the previous tree may hold tags, wherever they are built on.
  if (previous) {
    tagged ||= previous.tagged;
    previous.owner.borrow();
  }
  return {
    namespace,
    fields: {
      id: input.id ?? context.ids?.(),
      step: input.step,
      source: input.source ?? "loop",
      node: input.node ?? null,
      run: input.run,
      workflow: input.workflow,
      label: input.label ?? "",
      createdAt: input.createdAt,
      stateVersion: input.stateVersion,
      metadata: isEmptyObject(metadata) ? null : metadata,
      questions: questionIds(input.interrupts ?? []),
    },
    parts,
    state,
    update,
    tagged,
    attributes: input.attributes && { ...input.attributes },
    due: input.due,
    options: {
      parent: options.parent && copyRef(options.parent),
      expect: options.expect && copyRef(options.expect),
      lease: captureLease(options.lease),
    },
    borrowed: previous?.owner,
  };
}

/** Copies a lease's fields: the caller may pass any object that has them, and change it later. */
export function captureLease(lease: LeaseToken | undefined): LeaseToken | undefined {
  if (lease === undefined) return undefined;
  const { thread, holder, epoch, token } = lease;
  return { thread, holder, epoch, ...(token !== undefined && { token }) };
}

/** Encodes the nodes to run next; a string is short for a node without task and argument. */
function captureNext(next: NonNullable<PutFields["next"]>, encode: (value: unknown, root: string) => Json): Json {
  if (next.every((entry) => typeof entry === "string")) return next.map((node) => ({ node }));
  return encode(
    next.map((entry) => (typeof entry === "string" ? { node: entry } : entry)),
    "next",
  );
}

function isEmptyObject(value: Json): boolean {
  return value !== null && typeof value === "object" && !Array.isArray(value) && Object.keys(value).length === 0;
}

interface RecentTree {
  readonly state: Json;
  readonly tagged: boolean;
  readonly owner: TreeOwner;
}

/** Returns the tree of the namespace's head, if it is remembered: values equal to its nodes need not be copied. */
function recentTree(context: EngineContext, thread: string, namespace: string): RecentTree | undefined {
  const tape = context.rememberedThread(thread);
  const row = tape?.tail.findLast((entry) => entry.row.namespace === namespace)?.row;
  const entry = row && tape && context.trees.get(tape, row.seq);
  if (!entry) return undefined;
  return { state: (entry.tree as { readonly s: Json }).s, tagged: entry.tagged, owner: entry.owner };
}

/** A list or an object with more parts is captured by comparing it with the head's, which copies only the differences. */
const MANY = 16;

/** Returns true if an update sets long lists or objects: small ones are copied sooner than compared. */
function mayShareNodes(set: { readonly [key: string]: unknown } | undefined): boolean {
  if (set !== undefined) for (const key of Object.keys(set)) if (hasMany(set[key])) return true;
  return false;
}

function hasMany(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > MANY;
  if (typeof value !== "object" || value === null) return false;
  let count = 0;
  for (const _ in value) if (++count > MANY) return true;
  return false;
}

function captureUpdate(
  codec: ValueCodec,
  update: Update<Record<string, unknown>>,
  encode: (value: unknown, root: string, previous?: Json) => Json,
  before: Json | undefined,
): CapturedUpdate {
  const fields = isPlainState(before) ? before : {};
  const append: [string, Json[] | string][] = [];
  const set: { [key: string]: Json } = {};
  const grown: [string, CapturedGrownList][] = [];
  if (update.append !== undefined) {
    const given: { readonly [key: string]: unknown } = update.append;
    for (const key of codec.names(given, "update.append")) {
      const value = given[key];
      if (value === undefined) continue;
      append.push([key, encode(value, `update.append.${key}`) as Json[] | string]);
    }
  }
  if (update.set !== undefined) {
    const given: { readonly [key: string]: unknown } = update.set;
    for (const key of codec.names(given, "update.set")) {
      const value = given[key];
      if (value instanceof GrownList) {
        grown.push([key, new CapturedGrownList(value, encode(value.rest, `update.set.${key}`) as Json[])]);
        continue;
      }
      const previous = hasMany(value) && Object.hasOwn(fields, key) ? fields[key] : undefined;
      // A string is its own encoding; only values that may be refused need a path.
      assign(set, key, typeof value === "string" ? value : encode(value, `update.set.${key}`, previous));
    }
  }
  const patch = (update.patch ?? []).map((entry, index): CapturedPatch => {
    const path = [...entry[0]];
    return { path, value: entry.length === 1 ? undefined : encode(entry[1], `update.patch[${index}][1]`) };
  });
  return { append, set, grown, unset: update.unset ? [...update.unset] : [], patch };
}
