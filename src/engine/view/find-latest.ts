import type { EngineContext } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { headOf } from "./find.ts";
import type { Shown } from "./row-at.ts";
import { sealedHead } from "./sealed-head.ts";
import { shownRows } from "./shown-rows.ts";

/**
 * Finds the checkpoint with the greatest id of those that the thread itself committed: a fork goes on from where it was
 * made. Nearly always that is the head, which is known without reading on.
 */
export async function latestById(context: EngineContext, tape: Tape, namespace: string): Promise<Shown | undefined> {
  const head = await headOf(context, tape, namespace);
  const inherited = tape.meta.origin?.upTo ?? 0;
  if (!head || head.seq <= inherited) return head;
  const isGreatest = tape.tail.every(({ row }) => row.namespace !== namespace || row.id <= head.id);
  if (isGreatest && (await sealedBelow(context, tape, namespace, head.id))) return head;
  let best = head;
  for await (const row of shownRows(context, tape, { namespace })) {
    if (row.seq <= inherited) break;
    if (row.id > best.id) best = row;
  }
  return best;
}

/** Returns true if an id is known to be greater than all that were sealed, without a look at each. */
async function sealedBelow(context: EngineContext, tape: Tape, namespace: string, id: string): Promise<boolean> {
  const { greatestId } = tape.meta;
  if (greatestId === undefined || greatestId <= id) return true;
  if (namespace === "") return false;
  const sealed = await sealedHead(context, tape, namespace);
  return sealed === undefined || (sealed.greatestId !== undefined && sealed.greatestId <= id);
}

/** Lists the namespaces in which a thread shows a checkpoint, as keys. */
export async function namespacesOf(context: EngineContext, tape: Tape): Promise<ReadonlySet<string>> {
  const namespaces = new Set<string>();
  for await (const row of shownRows(context, tape)) namespaces.add(row.namespace);
  return namespaces;
}
