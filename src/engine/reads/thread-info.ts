import { parseNamespaceKey } from "../../model/address.ts";
import type { ThreadInfo } from "../../model/checkpoint.ts";
import type { Status } from "../../model/status.ts";
import { ifDamaged } from "../faults/damage.ts";
import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { tapeName } from "../records/keys.ts";
import { activeAt, type Meta } from "../records/meta.ts";
import type { Row } from "../records/row.ts";
import { countOf } from "../view/count.ts";
import { headOf } from "../view/find.ts";
import { controlsAt, statusCode, statusOfCode } from "../view/head-status.ts";
import type { Shown } from "../view/row-at.ts";
import { shownRows } from "../view/shown-rows.ts";
import { infoOf, parentId } from "./checkpoint.ts";
import { type TapePlace, type ThreadSummary, threadSummaries } from "./thread-summary.ts";

/** A thread as lists show it, with the place and the meta record that it was found at. */
export interface FoundThread<Place extends TapePlace = TapePlace> {
  readonly place: Place;
  readonly info: ThreadInfo;
  readonly meta: Meta;
}

/**
 * Looks at the threads of some tapes, in their order. A tape that is gone or dead, shows nothing, or is damaged is passed
 * over: `verify` reports damage.
 */
export async function threadsAt<Place extends TapePlace>(
  context: EngineContext,
  places: readonly Place[],
): Promise<readonly FoundThread<Place>[]> {
  const seen = await threadSummaries(context, places);
  const others = new Map<string, Tape>();
  if (seen.includes(undefined)) {
    const rest = places.filter((_, index) => seen[index] === undefined);
    for (const tape of await tapesAt(context, rest)) others.set(tape.name, tape);
  }
  const found: FoundThread<Place>[] = [];
  for (const [index, place] of places.entries()) {
    const summary = seen[index];
    if (summary) {
      found.push({ place, info: infoOfSummary(context, summary), meta: summary.meta });
      continue;
    }
    const tape = others.get(tapeName(place.lineage, place.tape));
    if (!tape || tape.meta.dead || tape.meta.thread !== (place.id ?? tape.meta.thread)) continue;
    const info = await threadInfo(context, tape).catch(ifDamaged);
    if (info) found.push({ place, info, meta: tape.meta });
  }
  return found;
}

/** Reads tapes together; where one is damaged, each by itself, and without those that cannot be read. */
async function tapesAt(context: EngineContext, places: readonly TapePlace[]): Promise<readonly Tape[]> {
  if (places.length === 0) return [];
  try {
    return (await context.tapes.refreshAll(places)).filter((tape) => tape !== undefined);
  } catch (error) {
    ifDamaged(error);
  }
  const tapes: Tape[] = [];
  for (const { tape, lineage } of places) {
    const found = await context.tapes.refresh(tape, lineage).catch(ifDamaged);
    if (found) tapes.push(found);
  }
  return tapes;
}

/** Returns the info that a glance gives: the newest row is the head, and shown as it is. */
function infoOfSummary(context: EngineContext, { meta, head, count, parent }: ThreadSummary): ThreadInfo {
  return {
    id: meta.thread,
    workflow: head.workflow,
    head: infoOf(context, { thread: meta.thread, namespace: [] }, head, parent),
    status: statusAt(context, meta) ?? statusOfCode(statusCode(head, [])),
    checkpoints: count,
    createdAt: meta.createdAt,
    updatedAt: head.createdAt,
    forkedFrom: null,
    attributes: { ...meta.attributes },
    cursor: meta.thread,
  };
}

/** Returns a thread as lists show it; undefined where it shows no checkpoint. */
export async function infoOfThread(context: EngineContext, id: string): Promise<ThreadInfo | undefined> {
  const tape = await context.thread(id);
  return tape && threadInfo(context, tape);
}

async function threadInfo(context: EngineContext, tape: Tape): Promise<ThreadInfo | undefined> {
  const { meta } = tape;
  const root = await headOf(context, tape, "");
  const newest = await newestRow(context, tape);
  const head = root ?? newest;
  if (!head || !newest) return undefined;
  const place = { thread: meta.thread, namespace: parseNamespaceKey(head.namespace) };
  return {
    id: meta.thread,
    workflow: head.workflow,
    head: infoOf(context, place, head, await parentId(context, tape, head)),
    status: statusAt(context, meta) ?? (await statusOfHead(context, tape, head)),
    checkpoints: await countOf(context, tape, undefined),
    createdAt: meta.createdAt,
    updatedAt: activeAt(meta, newest),
    forkedFrom: meta.origin ? { thread: meta.origin.thread, checkpoint: meta.origin.checkpoint } : null,
    attributes: { ...meta.attributes },
    cursor: meta.thread,
  };
}

async function newestRow(context: EngineContext, tape: Tape): Promise<Shown | undefined> {
  for await (const row of shownRows(context, tape)) return row;
  return undefined;
}

/** Returns the status that a meta record tells: by the lease or the index. Undefined for a thread that has no index yet. */
function statusAt(context: EngineContext, { lease, index }: Meta): Status | undefined {
  if (lease !== undefined && lease.expires > context.clock()) return "running";
  return index && statusOfCode(index.s);
}

/** Returns the status that the head and its control writes tell, the lease apart. */
async function statusOfHead(context: EngineContext, tape: Tape, head: Row): Promise<Status> {
  const mayHaveControls = tape.meta.failed || tape.meta.controls;
  return statusOfCode(statusCode(head, mayHaveControls ? await controlsAt(context, tape, head) : []));
}
