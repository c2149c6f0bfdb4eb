import type { Thread } from "../../api/thread.ts";
import type { CheckpointTuple } from "../../model/checkpoint.ts";
import type { Cancellation } from "../control/cancellation.ts";
import { StorageFailure } from "../errors.ts";
import { earlierNames, isNested, type Nested, writtenVersion } from "../graph/definition.ts";
import type { Values } from "../graph/reducers.ts";
import type { Task } from "../graph/routing.ts";
import { checkInput } from "../graph/schema.ts";
import { Journal } from "../journal/journal.ts";
import { type FlowNotes, notesOf, type Position, readPosition } from "../position/graph-position.ts";
import { checkFits, startPosition } from "../position/start-run.ts";
import { openStops } from "../position/step-progress.ts";
import { innerId, outerId, type Stop } from "../position/stops.ts";
import { timeOrderedId } from "../position/time-ordered-id.ts";
import { upgraded } from "../position/upgrade.ts";
import { ownCopy, release } from "../values/capture.ts";
import type { GraphLevel, RunSession } from "./session.ts";

type Answer = { readonly update: unknown } | { readonly stops: readonly Stop[] };

const NO_BREAKS = { before: [], after: [] } as const;

/**
 * Runs a graph as a task of another, in a namespace of the task's own. A task that is run again goes on from the head of
 * its graph; a task that never ran, or runs on another branch of the thread's history, starts from the beginning.
 */
export async function runNested(
  outer: GraphLevel,
  position: Position,
  task: Task,
  nested: Nested,
  cancellation: Cancellation,
): Promise<Answer> {
  const session = { ...outer.session, cancellation };
  const namespace = await stored(() => namespaceOf(outer, task));
  const thread = session.open(namespace);
  const outerCheckpoint = await outer.journal.idOf(position);
  const found = await stored(() => findStart(thread, position, task, outer.stopped.get(task.task), outerCheckpoint));
  const { definition } = nested;
  const journal = new Journal({
    thread,
    lease: session.lease?.token,
    durability: session.durability,
    workflow: definition.name,
    version: writtenVersion(definition),
    head: found.head?.checkpoint,
  });
  const level: GraphLevel = {
    session,
    definition,
    namespace,
    journal,
    outer: { level: outer, position },
    breaks: NO_BREAKS,
    stopped: new Map(),
  };
  const notes: FlowNotes = outerCheckpoint === undefined ? {} : { outer: outerCheckpoint };
  const start = await startOf(level, found, notes, () => nested.input(ownCopy(position.state), ownCopy(task.arg)));
  for (const [id, value] of position.progress.answers) {
    const inner = innerId(task.task, id);
    if (inner !== undefined) start.progress.answers.set(inner, value);
  }
  try {
    const ended = await session.runToEnd(level, start, true);
    if (ended.status === "done")
      return { update: nested.output(release(ended.position.state), ownCopy(position.state)) };
    return { stops: outerStops(task, ended.position) };
  } finally {
    // With `exit`, the outer checkpoint learns only from this where its graph stopped.
    if (journal.head !== undefined) outer.stopped.set(task.task, journal.head.id);
  }
}

type Place = Pick<GraphLevel, "definition" | "namespace"> & { readonly session: Pick<RunSession, "open"> };

/** Returns the namespace of a task's graph. If the graph began under an earlier name of its node, that name stays. */
async function namespaceOf(
  { definition, namespace, session }: Place,
  { node, task }: Pick<Task, "node" | "task">,
): Promise<readonly string[]> {
  for (const earlier of earlierNames(definition, node)) {
    const begun = [...namespace, earlier, task];
    if ((await session.open(begun)?.latest()) !== undefined) return begun;
  }
  return [...namespace, node, task];
}

/** Returns the open stops of a nested graph as stops of its task. */
function outerStops({ node, task }: Task, inner: Position): readonly Stop[] {
  return openStops(inner).map((stop) => ({ ...stop, id: outerId(task, stop.id), node: `${node}/${stop.node}` }));
}

interface Found {
  readonly head: CheckpointTuple | undefined;
  /** The checkpoint to go on from; undefined to start at START. */
  readonly from: CheckpointTuple | undefined;
  /** True to go on in a new branch from the checkpoint as committed; false to keep the progress since then. */
  readonly anew: boolean;
}

async function findStart(
  thread: Thread<Values> | undefined,
  { notes }: Position,
  { task }: Task,
  stopped: string | undefined,
  outer: string | undefined,
): Promise<Found> {
  const head = await thread?.tuple();
  if (thread === undefined || head === undefined) return { head: undefined, from: undefined, anew: false };
  const recorded = notes.nested?.at[task];
  const own =
    head.checkpoint.id === stopped ||
    (outer !== undefined && notesOf(head.checkpoint.metadata).outer === outer) ||
    (head.checkpoint.id === recorded && notes.nested?.of === outer);
  if (own) return { head, from: head, anew: false };
  return { head, from: recorded === undefined ? undefined : await thread.tuple(recorded), anew: true };
}

async function startOf(
  level: GraphLevel,
  { head, from, anew }: Found,
  notes: FlowNotes,
  input: () => unknown,
): Promise<Position> {
  const { definition, journal, session } = level;
  if (from === undefined) {
    const values = await checkInput(definition.name, definition.schema, input());
    const start = await startPosition(
      { definition, run: session.run, breaks: NO_BREAKS, notes, cancellation: session.cancellation },
      values,
      undefined,
    );
    await journal.commit(start, head === undefined ? {} : { parent: null });
    return start;
  }
  const { tuple, migrated } = await upgraded(definition, from as CheckpointTuple<Values>);
  const position = { ...readPosition(tuple, anew), run: session.run };
  checkFits(definition, session.threadId, from.checkpoint.workflow, position);
  const current: Position = { ...position, notes: { ...position.notes, ...notes } };
  // While the outer position is not stored, nothing leads to the stored one: it is put again once something is kept against it.
  if (!anew && (migrated || notes.outer === undefined)) {
    const id = timeOrderedId();
    const again: Position = { ...current, id: undefined, ...(migrated && { source: "update" as const }) };
    const noted = await withNested(level, again, from.checkpoint.id, id);
    await journal.commit(noted, { id });
    return noted;
  }
  if (!anew) return current;
  const branch: Position = { ...current, id: undefined, change: migrated ? undefined : {}, source: "fork" };
  await journal.commit(branch, { parent: from.checkpoint.id });
  return branch;
}

/**
 * Returns the heads of the nested graphs of a position's unfinished tasks, for a checkpoint that goes on with these tasks.
 * `before` is the checkpoint that the tasks have run from so far, `stopped` the heads known from this run.
 */
export async function nestedHeads(
  level: Place & Pick<GraphLevel, "stopped">,
  { next, progress, notes }: Position,
  before: string | undefined,
): Promise<Readonly<Record<string, string>>> {
  const at: Record<string, string> = {};
  for (const { node, task } of next) {
    const work = level.definition.nodes.get(node)?.work;
    if (work === undefined || !isNested(work) || progress.results.has(task)) continue;
    const found = async (): Promise<string | undefined> => {
      const thread = level.session.open(await namespaceOf(level, { node, task }));
      return ownHead(thread, before, notes.nested?.at[task]);
    };
    const id = level.stopped.get(task) ?? (await stored(found));
    if (id !== undefined) at[task] = id;
  }
  return at;
}

/** Tells whether a run that starts at a stored position finds its nested graphs where they stopped in this run. */
export async function findsNested(level: GraphLevel, position: Position, id: string): Promise<boolean> {
  if (level.stopped.size === 0) return true;
  const known = await nestedHeads(level, position, id);
  const found = await nestedHeads({ ...level, stopped: new Map() }, position, id);
  return Object.keys(known).every((task) => known[task] === found[task]);
}

async function ownHead(
  thread: Thread<Values> | undefined,
  outer: string | undefined,
  recorded: string | undefined,
): Promise<string | undefined> {
  const head = (await thread?.tuple())?.checkpoint;
  const isOwn = head !== undefined && outer !== undefined && notesOf(head.metadata).outer === outer;
  return isOwn ? head.id : recorded;
}

/**
 * Returns a position that is put again with the heads of its nested graphs, which go on from them. `before` is the checkpoint that
 * the position was read from, `id` the id to commit it with.
 */
export async function withNested(level: GraphLevel, position: Position, before: string, id: string): Promise<Position> {
  const heads = await nestedHeads(level, position, before);
  for (const [task, head] of Object.entries(heads)) level.stopped.set(task, head);
  return { ...position, notes: noteNested(position.notes, id, heads) };
}

/** Returns the notes with the heads of nested graphs, for the checkpoint that will have the id `of`. */
export function noteNested(notes: FlowNotes, of: string, at: Readonly<Record<string, string>>): FlowNotes {
  const { nested: _, ...rest } = notes;
  return Object.keys(at).length === 0 ? rest : { ...rest, nested: { of, at } };
}

/** Reads from the store, whose faults must not be blamed on a node. */
async function stored<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new StorageFailure(error);
  }
}
