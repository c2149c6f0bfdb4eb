import type { Found } from "../../backend.ts";
import type { Json } from "../../codec/json.ts";
import { resolveCopied } from "../../codec/references.ts";
import { ThreadmarkError } from "../../errors.ts";
import { Attempts } from "../../platform/attempts.ts";
import { Draft } from "../commits/draft/draft.ts";
import type { Lanes } from "../commits/lanes.ts";
import type { ThreadChange } from "../commits/thread-change.ts";
import { neverRests } from "../faults/attempts.ts";
import { wasOvertaken } from "../faults/overtaken.ts";
import type { EngineContext } from "../memory/context.ts";
import { Tape } from "../memory/tape.ts";
import { decodeMarks } from "../records/marks.ts";
import { decodeTailRow, encodeTailRow, tailChange } from "../records/tail.ts";
import { parseValue } from "../records/values.ts";
import { standingOf } from "../view/lineage/unchanged-since.ts";
import { threadRecords } from "./export-thread.ts";
import { threadChange } from "./import.ts";
import { BundledThread } from "./incoming-thread.ts";

/**
 * Makes a fork or a copy by value, in a lineage of its own. `change` plans it as it would be with shared records; nothing of
 * that plan is committed, but everything that the planned thread would show is read and written anew.
 */
export async function detach(
  context: EngineContext,
  lanes: Lanes,
  source: string,
  into: string,
  change: ThreadChange<void>,
): Promise<void> {
  for (const attempts = new Attempts(); ; ) {
    const thread = await shownThread(context, source, into, change);
    if (thread) {
      if (await lanes.of(into).add(threadChange(thread, true))) return;
      throw taken(into);
    }
    if (!(await attempts.again())) throw neverRests(source, "it was copied");
  }
}

/** Reads what a planned thread would show. Resolves to undefined where others have changed its source meanwhile. */
async function shownThread(
  context: EngineContext,
  source: string,
  into: string,
  change: ThreadChange<void>,
): Promise<BundledThread | undefined> {
  const draft = new Draft(context, source, await context.thread(source), false);
  await change.plan(draft);
  const { newThread, before } = draft;
  if (!newThread) return undefined;
  // The store's own memory goes on changing meanwhile.
  const own = context.fresh();
  const known = await own.thread(source);
  if (known?.metaValue !== before.metaValue) return undefined;
  const holds = await standingOf(own, known as Tape);
  try {
    const thread = await bundled(own, plannedTape(draft, newThread.tape, newThread.rows), into);
    return (await holds()) ? thread : undefined;
  } catch (error) {
    if (await wasOvertaken(error, async () => !(await holds()))) return undefined;
    throw error;
  }
}

/** Returns a tape as it would be if the draft were committed. */
function plannedTape({ batch, values }: Draft, { number, lineage, metaValue }: Tape, rows: readonly Found[]): Tape {
  const tape = new Tape(number, lineage, metaValue);
  const planned = new Map(values.planned.map(({ name, json }) => [name, json]));
  // Large values of the edits are in no record yet.
  const resolved = (change: Json): Json =>
    resolveCopied(change, (reference) => {
      const json = planned.get(reference.$.v);
      return json === undefined ? (reference as unknown as Json) : parseValue(json);
    });
  tape.addTail(
    rows.map(({ item, part, value }) => {
      if (planned.size === 0) return { item, part, value };
      const { row, count, root } = decodeTailRow(item, value);
      const change = resolved(tailChange(value) as Json) as ReturnType<typeof tailChange>;
      return { item, part, value: encodeTailRow(row, count, root, change) };
    }),
  );
  const marks = batch.inserts.flatMap(({ key, value }) =>
    key.table === "mark" && key.group === number ? [{ item: key.item, part: 0, value }] : [],
  );
  tape.marks = decodeMarks(marks);
  return tape;
}

async function bundled(context: EngineContext, tape: Tape, into: string): Promise<BundledThread> {
  const { createdAt, attributes, pruner } = tape.meta;
  const begin = {
    kind: "thread",
    id: into,
    createdAt,
    ...(attributes && { attributes }),
    ...(pruner && { pruner }),
  } as const;
  const thread = new BundledThread(begin, context.codec, 0);
  for await (const record of threadRecords(context, tape)) {
    if (record.kind === "value") thread.addValue(record, 0);
    else if (record.kind === "checkpoint") thread.addCheckpoint(record, 0);
    else if (record.kind === "writes") thread.addWrites(record, 0);
  }
  return thread;
}

function taken(into: string): ThreadmarkError {
  return new ThreadmarkError(
    "CONFLICT",
    `There already is a thread ${JSON.stringify(into)}. Choose another id, or delete it first.`,
    { thread: into },
  );
}
