import { ThreadmarkError } from "../../errors.ts";
import type { Barrier, Checkpoint, CheckpointTuple } from "../../model/checkpoint.ts";
import { effectiveVersion } from "../../model/state-versions.ts";
import type { Definition } from "../graph/definition.ts";
import type { Values } from "../graph/reducers.ts";
import { release } from "../values/capture.ts";
import { notesOf } from "./graph-position.ts";

/** A stored position as the present program sees it. */
export interface Upgraded {
  readonly tuple: CheckpointTuple<Values>;
  /** True if the state was migrated, and so differs from the stored one. */
  readonly migrated: boolean;
}

/**
 * Returns a stored position under the names and the version of the graph: renamed nodes have their new names, and the state went
 * through every migration since. Throws `VERSION` where a migration is missing, or the program is the older one.
 */
export async function upgraded(definition: Definition, tuple: CheckpointTuple<Values>): Promise<Upgraded> {
  const checkpoint = renamed(definition, tuple.checkpoint);
  const from = effectiveVersion(checkpoint.stateVersion);
  const named = { ...tuple, checkpoint };
  // Without a version of its own, the graph leaves that to the store.
  const { version = from, storeMigrates = false } = definition;
  if (storeMigrates || from === version || checkpoint.workflow !== definition.name)
    return { tuple: named, migrated: false };
  if (from > version)
    throw refused(checkpoint, definition, `its state has version ${from}, and the program knows ${version}`);
  let state: unknown = release(checkpoint.state);
  for (let at = from; at < version; at += 1) {
    const migrate = definition.migrate.get(at);
    if (migrate === undefined) throw refused(checkpoint, definition, `there is no migration from version ${at}`);
    state = await migrate(state as Values);
  }
  const migrated: Checkpoint<Values> = { ...checkpoint, state: state as Values, stateVersion: version };
  return { tuple: { ...named, checkpoint: migrated }, migrated: true };
}

function refused({ thread }: Checkpoint, { name }: Definition, fault: string): ThreadmarkError {
  const message = `Thread "${thread}" cannot go on in workflow "${name}": ${fault}. Add the migration, or run the program that wrote it.`;
  return new ThreadmarkError("VERSION", message, { thread });
}

/** Returns a checkpoint with the present names of its nodes. A name that the graph has still means that node. */
function renamed({ nodes, renamed: names }: Definition, checkpoint: Checkpoint<Values>): Checkpoint<Values> {
  if (names.size === 0) return checkpoint;
  const now = (name: string): string => (nodes.has(name) ? name : (names.get(name) ?? name));
  const { breaks, ...notes } = notesOf(checkpoint.metadata);
  const flow =
    breaks === undefined
      ? notes
      : { ...notes, breaks: { before: breaks.before.map(now), after: breaks.after.map(now) } };
  return {
    ...checkpoint,
    next: checkpoint.next.map((activation) => ({ ...activation, node: now(activation.node) })),
    barriers: checkpoint.barriers.map(({ node, arrived }): Barrier => ({ node: now(node), arrived: arrived.map(now) })),
    metadata: { ...checkpoint.metadata, flow },
  };
}
