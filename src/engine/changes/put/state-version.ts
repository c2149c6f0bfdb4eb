import { apply } from "../../../codec/delta/index.ts";
import type { Json } from "../../../codec/json.ts";
import { ThreadmarkError } from "../../../errors.ts";
import { effectiveVersion, type StateVersions, type Versioned } from "../../../model/state-versions.ts";
import type { Draft } from "../../commits/draft/draft.ts";
import { shownBody } from "../../commits/draft/draft-view.ts";
import type { Shown } from "../../view/row-at.ts";
import type { CapturedPut } from "./capture.ts";
import { updateDelta } from "./update.ts";

/**
 * Returns a put as it is planned under the store's schema: with the program's version, and where the parent is older, an
 * update as the whole state that it makes of the migrated one. Throws `VERSION` if a newer program wrote the parent.
 */
export async function underSchema(
  draft: Draft,
  versions: StateVersions,
  captured: CapturedPut,
  parent: Shown | undefined,
): Promise<CapturedPut> {
  const { fields, update } = captured;
  const isRoot = captured.namespace === "";
  const workflow = fields.workflow === undefined ? (parent?.workflow ?? null) : fields.workflow;
  const version = versions.versionFor({ workflow, isRoot });
  if (version === undefined) return captured;
  if (fields.stateVersion !== undefined && effectiveVersion(fields.stateVersion) !== version) {
    throw new TypeError(
      `stateVersion: this store writes version ${version}, as its schema says. Leave stateVersion out of put.`,
    );
  }
  const stamped: CapturedPut = { ...captured, fields: { ...fields, stateVersion: version } };
  if (parent === undefined) return stamped;
  const subject = subjectOf(draft.thread, parent);
  if (effectiveVersion(parent.stateVersion) > version) throw newerParent(subject, version);
  if (update === undefined || !versions.isOlder(subject)) return stamped;
  const { codec } = draft.context;
  const body = await shownBody(draft, parent);
  const migrated = codec.encode(await versions.upgrade(codec.decode(body.s), subject), "state").tree;
  const state: Json = apply(migrated, updateDelta(codec, migrated, update).delta);
  return { ...stamped, update: undefined, state, tagged: true };
}

/** Returns the facts about a row that decide how its state is migrated. */
export function subjectOf(thread: string, row: Shown): Versioned {
  const { id, namespace, workflow, stateVersion } = row;
  return { thread, checkpoint: id, isRoot: namespace === "", workflow, stateVersion };
}

function newerParent({ thread, checkpoint, stateVersion }: Versioned, version: number): ThreadmarkError {
  return new ThreadmarkError(
    "VERSION",
    `Thread ${JSON.stringify(thread)}: checkpoint ${JSON.stringify(checkpoint)} has version ${stateVersion}, this program writes version ${version}. Nothing was written; run the newer program.`,
    { thread, checkpoint, committed: false },
  );
}
