import type { IndexEntry, Key, Read, Value } from "../../backend.ts";
import type { Committer } from "../commits/group-commit.ts";
import { ifDamaged } from "../faults/damage.ts";
import type { EngineContext } from "../memory/context.ts";
import { metaKey } from "../records/keys.ts";
import { decodeMeta } from "../records/meta.ts";
import { textBehind, textsOf } from "../records/store-wide/index-entries.ts";

const PAGE = 500;

/** An entry that its tape does not have, with the tape's meta record. */
export interface WrongEntry {
  readonly entry: IndexEntry;
  readonly key: Key;
  readonly value: Value | undefined;
}

interface Texts {
  readonly from: string;
  readonly to: string;
}

/** The texts of all entries that name a thread. */
const ALL: Texts = { from: "a", to: "x" };
const RUNS: Texts = { from: "r", to: "s" };

/** Yields entries that tell something that their tape does not, a page at a time; of runs, those whose tape is gone. */
export async function* wrongEntries(context: EngineContext, texts: Texts = ALL): AsyncGenerator<readonly WrongEntry[]> {
  for (let after: IndexEntry | undefined; ; ) {
    const find = { ...texts, limit: PAGE, ...(after && { after }) };
    const [entries] = (await context.read([{ find }])) as readonly [readonly IndexEntry[]];
    const suspects = await unfounded(context, entries);
    // Others may have changed a thread between the two reads: one read of both decides.
    const wrong: WrongEntry[] = [];
    for (const { entry, key } of suspects) {
      const answers = await context.read([exactly(entry), { get: key }]).catch(ifDamaged);
      // A record that cannot be read is a fault of its own, which is told with its lineage.
      if (answers === undefined) continue;
      const [still, value] = answers;
      if ((still as readonly IndexEntry[]).length > 0 && !isFounded(context, entry, value as Value | undefined)) {
        wrong.push({ entry, key, value: value as Value | undefined });
      }
    }
    yield wrong;
    after = entries.at(-1);
    if (entries.length < PAGE) return;
  }
}

async function unfounded(
  context: EngineContext,
  entries: readonly IndexEntry[],
): Promise<readonly { readonly entry: IndexEntry; readonly key: Key }[]> {
  const keys = entries.map(({ lineage, tape }) => metaKey(lineage, tape));
  const values = await context.read(keys.map((get) => ({ get }))).catch(ifDamaged);
  // A meta record cannot be read: each entry is looked at by itself.
  if (values === undefined) return entries.map((entry, index) => ({ entry, key: keys[index] as Key }));
  return entries
    .map((entry, index) => ({ entry, key: keys[index] as Key, value: values[index] as Value | undefined }))
    .filter(({ entry, value }) => !isFounded(context, entry, value));
}

/**
 * Tells whether a meta record has an entry. A run is proved on reading; its entry serves as long as the tape is there. The
 * texts of runs of before ended with a character that no text ends with now.
 */
function isFounded(context: EngineContext, { text }: IndexEntry, value: Value | undefined): boolean {
  if (value === undefined) return false;
  if (text.startsWith("r")) return !text.endsWith(textBehind(""));
  try {
    return textsOf(decodeMeta(value)).some((own) => context.indexText(own) === text);
  } catch (error) {
    // A meta record that cannot be read is a fault of its own.
    return ifDamaged(error) ?? true;
  }
}

/** Returns the read of one entry. */
export function exactly(entry: IndexEntry): Read {
  const { text, lineage, tape } = entry;
  return { find: { from: text, to: textBehind(text), after: { text, lineage, tape: tape - 1 }, limit: 1 } };
}

/** Removes wrong entries, each unless its tape has changed since that was seen. */
export async function removeEntries(committer: Committer, wrong: readonly WrongEntry[]): Promise<void> {
  const batches = wrong.map(({ entry, key, value }) => ({ checks: [{ key, value }], entries: { remove: [entry] } }));
  await Promise.all(batches.map((batch) => committer.commit(batch)));
}

/**
 * Removes the runs of tapes that are gone. A thread is deleted without being read: its commit removes the runs of the rows at
 * hand, and leaves those of older packs, which no list shows any more.
 */
export async function removeLostRuns(
  context: EngineContext,
  committer: Committer,
  signal: AbortSignal | undefined,
): Promise<void> {
  for await (const wrong of wrongEntries(context, RUNS)) {
    signal?.throwIfAborted();
    await removeEntries(committer, wrong);
  }
}
