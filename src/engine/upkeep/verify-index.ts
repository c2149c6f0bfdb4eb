import type { IndexEntry, Key, Read, Value } from "../../backend.ts";
import type { Fault } from "../../model/interface/results.ts";
import { ifDamaged } from "../faults/damage.ts";
import type { Context } from "../memory/context.ts";
import type { Tape } from "../memory/tape.ts";
import { threadsAt } from "../reads/thread-info.ts";
import { metaKey } from "../records/keys.ts";
import { decodeMeta } from "../records/meta.ts";
import { runText, textBehind, textsOf } from "../records/store-wide/index-entries.ts";
import { headOf } from "../view/find.ts";
import { controlsAt, statusCode } from "../view/head-status.ts";
import { shownRows } from "../view/shown-rows.ts";

/** How often a thread is looked at again because others have changed it meanwhile. */
const ATTEMPTS = 4;
const PAGE = 500;

/** Returns a fault for each fact by which a thread would not be found as it is. */
export async function indexFaults(context: Context, found: Tape): Promise<readonly Fault[]> {
  let faults: readonly Fault[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const tape = await context.tapes.refresh(found.number, found.lineage);
    if (!tape || tape.meta.dead) return [];
    faults = [
      ...(await missingEntries(context, tape)),
      ...(await missingRuns(context, tape)),
      ...(await wrongFacts(context, tape)),
    ];
    if (faults.length === 0) return faults;
  }
  return faults;
}

async function missingEntries(context: Context, tape: Tape): Promise<readonly Fault[]> {
  const { lineage, number, meta } = tape;
  const texts = textsOf(meta);
  const answers = await context.read(texts.map((text) => exactly({ text, lineage, tape: number })));
  return texts
    .filter((_, index) => (answers[index] as readonly IndexEntry[]).length === 0)
    .map((text) => fault(meta.thread, `it is not in the index under ${JSON.stringify(text)}`));
}

/** Returns a fault for each run that the thread shows and is not found by. An entry of any tape of its lineage will do. */
async function missingRuns(context: Context, tape: Tape): Promise<readonly Fault[]> {
  const { lineage, meta } = tape;
  const runs = new Set<string>();
  for await (const { run } of shownRows(context, tape)) if (run !== null) runs.add(run);
  const faults: Fault[] = [];
  for (const run of runs) {
    const text = runText(run);
    const find = { from: text, to: textBehind(text), after: { text, lineage, tape: 0 }, limit: 1 };
    const [[entry]] = (await context.read([{ find }])) as [readonly IndexEntry[]];
    if (entry?.lineage !== lineage)
      faults.push(fault(meta.thread, `it is not found by its run ${JSON.stringify(run)}`));
  }
  return faults;
}

/** Returns the read of one entry. */
function exactly(entry: IndexEntry): Read {
  const { text, lineage, tape } = entry;
  return { find: { from: text, to: textBehind(text), after: { text, lineage, tape: tape - 1 }, limit: 1 } };
}

/** Compares the index in the meta record with the rows that the thread shows. */
async function wrongFacts(context: Context, tape: Tape): Promise<readonly Fault[]> {
  const { meta } = tape;
  const [found] = await threadsAt(context, [{ lineage: tape.lineage, tape: tape.number }]);
  if (!found) {
    return meta.index === undefined ? [] : [fault(meta.thread, "it is in the index, and shows no checkpoint")];
  }
  if (meta.index === undefined) return [fault(meta.thread, "it is not in the index")];
  const head = (await headOf(context, tape, "")) ?? undefined;
  const faults: Fault[] = [];
  const { s, t, w, nested } = meta.index;
  if ((nested ?? false) !== (head === undefined))
    faults.push(fault(meta.thread, "the index takes another row for its head"));
  if (head !== undefined) {
    const status = statusCode(head, meta.controls || meta.failed ? await controlsAt(context, tape, head) : []);
    if (status !== s) faults.push(fault(meta.thread, `the index has the status ${s}, and its head ${status}`));
    if ((head.workflow ?? undefined) !== w) faults.push(fault(meta.thread, "the index has another workflow"));
  }
  const { updatedAt } = found.info;
  if (Math.floor(updatedAt / 1000) !== Math.floor(t / 1000)) {
    faults.push(fault(meta.thread, `the index has the time ${t}, and it was active at ${updatedAt}`));
  }
  return faults;
}

function fault(thread: string, what: string): Fault {
  return { thread, checkpoint: null, message: `Thread ${JSON.stringify(thread)}: ${what}. Run reindex().` };
}

/** An entry that its tape does not have, with the tape's meta record. */
export interface WrongEntry {
  readonly entry: IndexEntry;
  readonly key: Key;
  readonly value: Value | undefined;
}

/** Yields entries that tell something that their tape does not, a page at a time; of runs, those whose tape is gone. */
export async function* wrongEntries(context: Context): AsyncGenerator<readonly WrongEntry[]> {
  for (let after: IndexEntry | undefined; ; ) {
    const find = { from: "a", to: "x", limit: PAGE, ...(after && { after }) };
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
  context: Context,
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
function isFounded(context: Context, { text }: IndexEntry, value: Value | undefined): boolean {
  if (value === undefined) return false;
  if (text.startsWith("r")) return !text.endsWith(textBehind(""));
  try {
    return textsOf(decodeMeta(value)).some((own) => context.indexText(own) === text);
  } catch (error) {
    // A meta record that cannot be read is a fault of its own.
    return ifDamaged(error) ?? true;
  }
}
