import { ThreadmarkError } from "../../../src/errors.ts";
import type { Checkpoint } from "../../../src/model/checkpoint.ts";
import type { PutInput, PutOptions, Update } from "../../../src/model/interface/options.ts";
import { clone } from "../clone.ts";
import { setAttributes } from "./finding.ts";
import { checkLease, type NaiveLease } from "./lease.ts";
import { patched } from "./patch.ts";
import { find, type Line, type NaiveThread } from "./thread.ts";

type Free = Record<string, unknown>;

/** The values that the store chooses by itself and the model takes over. */
export interface Assigned {
  readonly id: string;
  readonly seq: number;
  readonly createdAt: number;
  /** The version of a root that names none. */
  readonly firstVersion: number;
  /** The thread's lease, and the time. */
  readonly lease?: NaiveLease | undefined;
  readonly now: number;
}

/** Commits or replaces one checkpoint. */
export function put(
  thread: NaiveThread,
  line: Line,
  input: PutInput<Free>,
  options: PutOptions,
  assigned: Assigned,
): Checkpoint {
  if (input.update !== undefined) checkGroups(input.update);
  checkLease(assigned.lease, options.lease?.epoch, assigned.now);
  const head = line.checkpoints.at(-1);
  if (options.expect !== undefined && options.expect !== (head?.id ?? null)) {
    throw new ThreadmarkError("CONFLICT", `the head is ${head?.id}`);
  }
  const replaced = input.id === undefined ? undefined : line.checkpoints.find(({ id }) => id === input.id);
  const parentId = options.parent !== undefined ? options.parent : replaced !== undefined ? replaced.parent : head?.id;
  const parent = parentId === null || parentId === undefined ? undefined : find(line, parentId);
  if (replaced !== undefined && parent !== undefined && parent.seq >= replaced.seq) {
    throw new TypeError("a parent must be committed before its child");
  }
  const state =
    input.update === undefined
      ? clone(input.state)
      : updated(parent === undefined ? {} : parent.state, clone(input.update));
  const node = input.node ?? null;
  const next = clone(input.next ?? []).map((one) => (typeof one === "string" ? { node: one } : one));
  const interrupts = clone(input.interrupts ?? []);
  const checkpoint: Checkpoint = {
    id: assigned.id,
    thread: thread.id,
    namespace: line.namespace,
    seq: replaced?.seq ?? assigned.seq,
    parent: parent?.id ?? null,
    step: input.step ?? (parent === undefined ? 0 : parent.step + 1),
    source: input.source ?? "loop",
    node,
    run: input.run !== undefined ? input.run : (parent?.run ?? null),
    workflow: input.workflow !== undefined ? input.workflow : (parent?.workflow ?? null),
    label: input.label ?? "",
    createdAt: input.createdAt ?? assigned.createdAt,
    stateVersion: input.stateVersion ?? parent?.stateVersion ?? assigned.firstVersion,
    metadata: clone(input.metadata ?? {}),
    pending: next.length,
    waiting: interrupts.length,
    state,
    path: input.path ?? [...(parent?.path ?? []), ...(node === null ? [] : [node])],
    next,
    completed: input.completed ?? [],
    interrupts,
    barriers: input.barriers ?? [],
  };
  if (replaced !== undefined) {
    line.checkpoints = line.checkpoints.map((one) => (one === replaced ? checkpoint : one));
  } else {
    line.checkpoints = [...line.checkpoints, checkpoint];
    thread.lastSeq = checkpoint.seq;
  }
  if (input.attributes !== undefined) setAttributes(thread, input.attributes);
  if (input.due !== undefined) thread.due = input.due;
  return checkpoint;
}

/** The parent's state with an update applied, as a new tree. */
export function updated(before: unknown, update: Update<Free>): Free {
  if (!isPlain(before)) throw new TypeError("only a plain object can be updated");
  const { append = {}, set = {}, unset = [], patch = [] } = update;
  const after: Free = clone(before);
  for (const [key, more] of Object.entries(append as Free)) {
    const old = Object.hasOwn(after, key) ? after[key] : undefined;
    if (Array.isArray(old) && Array.isArray(more)) assign(after, key, [...old, ...more]);
    else if (typeof old === "string" && typeof more === "string") assign(after, key, old + more);
    else throw new TypeError(`cannot append to ${key}`);
  }
  for (const [key, value] of Object.entries(set)) assign(after, key, value);
  for (const key of unset) delete after[key];
  for (const one of clone(patch)) patched(after, one);
  return after;
}

/** Refuses an update that is wrong whatever the state is; the store does so before any read. */
function checkGroups({ append = {}, set = {}, unset = [], patch = [] }: Update<Free>): void {
  const patchedKeys = new Set(patch.map(([path]) => path[0] as string));
  const keys = [...Object.keys(append), ...Object.keys(set), ...new Set<string>(unset), ...patchedKeys];
  if (new Set(keys).size !== keys.length) throw new TypeError("a key is in two groups");
}

function assign(target: Free, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

function isPlain(value: unknown): value is Free {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
