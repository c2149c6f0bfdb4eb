import type { IndexEntry } from "../../../backend.ts";
import type { Fault } from "../../../model/interface/results.ts";
import type { EngineContext } from "../../memory/context.ts";
import type { Tape } from "../../memory/tape.ts";
import { threadsAt } from "../../reads/thread-info.ts";
import { runText, textBehind, textsOf } from "../../records/store-wide/index-entries.ts";
import { headOf } from "../../view/find.ts";
import { controlsAt, statusCode } from "../../view/head-status.ts";
import { shownRows } from "../../view/shown-rows.ts";
import { exactly } from "../wrong-entries.ts";

/** How often a thread is looked at again because others have changed it meanwhile. */
const ATTEMPTS = 4;

/** Returns a fault for each fact by which a thread would not be found as it is. */
export async function indexFaults(context: EngineContext, found: Tape): Promise<readonly Fault[]> {
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

async function missingEntries(context: EngineContext, tape: Tape): Promise<readonly Fault[]> {
  const { lineage, number, meta } = tape;
  const texts = textsOf(meta);
  const answers = await context.read(texts.map((text) => exactly({ text, lineage, tape: number })));
  return texts
    .filter((_, index) => (answers[index] as readonly IndexEntry[]).length === 0)
    .map((text) => fault(meta.thread, `it is not in the index under ${JSON.stringify(text)}`));
}

/** Returns a fault for each run that the thread shows and is not found by. An entry of any tape of its lineage will do. */
async function missingRuns(context: EngineContext, tape: Tape): Promise<readonly Fault[]> {
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

/** Compares the index in the meta record with the rows that the thread shows. */
async function wrongFacts(context: EngineContext, tape: Tape): Promise<readonly Fault[]> {
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
