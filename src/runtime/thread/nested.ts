import type { Thread } from "../../api/thread.ts";
import type { CheckpointTuple, Interrupt } from "../../model/checkpoint.ts";
import { StorageFailure } from "../errors.ts";
import { isNested, type Nested } from "../graph/definition.ts";
import type { Values } from "../graph/reducers.ts";
import { checkInput } from "../graph/schema.ts";
import type { Cancellation } from "../run/cancellation.ts";
import type { Task } from "../run/routing.ts";
import type { Level, Session } from "../run/session.ts";
import { release } from "./capture.ts";
import { Journal } from "./journal.ts";
import { type Notes, notesOf, openInterrupts, type Position, readPosition } from "./position.ts";
import { begin, checkFits } from "./start-run.ts";

type Answer = { readonly update: unknown } | { readonly asked: readonly Interrupt[] };

const NO_BREAKS = { before: [], after: [] } as const;

/**
 * Runs a graph as a task of another, in a namespace of the task's own. A task that is run again goes on where its graph
 * stood; one that was never run, or runs on another branch of the thread's history, starts afresh.
 */
export async function runNested(
  outer: Level,
  position: Position,
  task: Task,
  nested: Nested,
  cancellation: Cancellation,
): Promise<Answer> {
  const namespace = [...outer.namespace, task.node, task.task];
  const session = { ...outer.session, cancellation };
  const thread = session.open(namespace);
  const outerId = await outer.journal.idOf(position);
  const found = await stored(() => findStart(thread, position, task, outer.stopped.get(task.task), outerId));
  const { definition } = nested;
  const journal = new Journal({
    thread,
    lease: session.lease?.token,
    durability: session.durability,
    workflow: definition.name,
    head: found.head?.checkpoint,
  });
  const level: Level = { session, definition, namespace, journal, breaks: NO_BREAKS, stopped: new Map() };
  const notes: Notes = outerId === undefined ? {} : { outer: outerId };
  const start = await startOf(level, found, notes, () => nested.input(position.state, task.arg));
  for (const [id, value] of position.progress.answers) {
    if (id.startsWith(`${task.task}/`)) start.progress.answers.set(id.slice(task.task.length + 1), value);
  }
  try {
    const ended = await session.walk(level, start, true);
    if (ended.status === "done") return { update: nested.output(release(ended.position.state), position.state) };
    return { asked: outerQuestions(task, ended.position) };
  } finally {
    // With `exit` nothing else tells the outer checkpoint where its graph stopped.
    if (journal.head !== undefined) outer.stopped.set(task.task, journal.head.id);
  }
}

/** What is asked inside is asked of the outside, under the task's name. */
function outerQuestions({ node, task }: Task, inner: Position): readonly Interrupt[] {
  return openInterrupts(inner).map((question) => ({
    id: `${task}/${question.id}`,
    node: `${node}/${question.node}`,
    value: question.value,
  }));
}

interface Found {
  readonly head: CheckpointTuple | undefined;
  /** Go on from here … */
  readonly from: CheckpointTuple | undefined;
  /** … as it was when it was committed, on a new branch; else with all that was done since. */
  readonly anew: boolean;
}

async function findStart(
  thread: Thread<Values> | undefined,
  { notes }: Position,
  { task }: Task,
  stopped: string | undefined,
  outerId: string | undefined,
): Promise<Found> {
  const head = await thread?.tuple();
  if (thread === undefined || head === undefined) return { head: undefined, from: undefined, anew: false };
  const recorded = notes.nested?.at[task];
  const own =
    head.checkpoint.id === stopped ||
    (outerId !== undefined && notesOf(head.checkpoint.metadata).outer === outerId) ||
    (head.checkpoint.id === recorded && notes.nested?.of === outerId);
  if (own) return { head, from: head, anew: false };
  return { head, from: recorded === undefined ? undefined : await thread.tuple(recorded), anew: true };
}

async function startOf(
  level: Level,
  { head, from, anew }: Found,
  notes: Notes,
  input: () => unknown,
): Promise<Position> {
  const { definition, journal, session } = level;
  if (from === undefined) {
    const values = await checkInput(definition.name, definition.schema, input());
    const start = await begin({ definition, run: session.run, breaks: NO_BREAKS, notes }, values, undefined);
    await journal.commit(start, head === undefined ? {} : { parent: null });
    return start;
  }
  const position = { ...readPosition(from, anew), run: session.run };
  checkFits(definition, session.threadId, from.checkpoint.workflow, position);
  if (!anew) return { ...position, notes: { ...position.notes, ...notes } };
  const branch: Position = {
    ...position,
    id: undefined,
    change: {},
    source: "fork",
    notes: { ...position.notes, ...notes },
  };
  await journal.commit(branch, { parent: from.checkpoint.id });
  return branch;
}

/**
 * Where the graphs of a position's unfinished tasks stand, for a checkpoint that goes on with those tasks: `before` is
 * the checkpoint that they were run from so far, `stopped` what is known of this run.
 */
export async function nestedHeads(
  {
    definition,
    namespace,
    session,
    stopped,
  }: Pick<Level, "definition" | "namespace" | "stopped"> & {
    readonly session: Pick<Session, "open">;
  },
  { next, progress, notes }: Position,
  before: string | undefined,
): Promise<Readonly<Record<string, string>>> {
  const at: Record<string, string> = {};
  for (const { node, task } of next) {
    const work = definition.nodes.get(node)?.work;
    if (work === undefined || !isNested(work) || progress.results.has(task)) continue;
    const id =
      stopped.get(task) ?? (await ownHead(session.open([...namespace, node, task]), before, notes.nested?.at[task]));
    if (id !== undefined) at[task] = id;
  }
  return at;
}

async function ownHead(
  thread: Thread<Values> | undefined,
  outer: string | undefined,
  recorded: string | undefined,
): Promise<string | undefined> {
  const head = (await stored(async () => thread?.tuple()))?.checkpoint;
  const isOwn = head !== undefined && outer !== undefined && notesOf(head.metadata).outer === outer;
  return isOwn ? head.id : recorded;
}

/** Notes with these nested graphs in them, for the checkpoint that will have this id. */
export function noteNested(notes: Notes, of: string, at: Readonly<Record<string, string>>): Notes {
  const { nested: _, ...rest } = notes;
  return Object.keys(at).length === 0 ? rest : { ...rest, nested: { of, at } };
}

async function stored<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new StorageFailure(error);
  }
}
