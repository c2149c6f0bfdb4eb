import type { IndexEntry } from "../../../backend.ts";
import type { Fault, VerifyResult } from "../../../model/interface/results.ts";
import type { ResumableOptions } from "../../../model/interface/store-options.ts";
import { Attempts } from "../../../platform/attempts.ts";
import { ifDamaged, isCorrupt } from "../../faults/damage.ts";
import { abortable } from "../../memory/abortable.ts";
import { ByteCache } from "../../memory/byte-cache.ts";
import type { EngineContext } from "../../memory/context.ts";
import type { Tape } from "../../memory/tape.ts";
import { allThreads } from "../../reads/directory.ts";
import { STORE_THREAD, tapeName } from "../../records/keys.ts";
import { standingOf } from "../../view/lineage/unchanged-since.ts";
import { isPlain } from "../../view/row-at.ts";
import { SharedNumbers } from "../shared-numbers.ts";
import { wrongEntries } from "../wrong-entries.ts";
import { indexFaults } from "./verify-index.ts";
import { verifyRows } from "./verify-rows.ts";
import { verifyValues } from "./verify-values.ts";

/**
 * Reads everything that any thread shows, from storage, not from memory: every frame with its checksum, every chain,
 * every type, every write. Does not stop at a fault.
 */
export async function verifyStore(
  store: EngineContext,
  { progress, signal, after }: ResumableOptions,
): Promise<VerifyResult> {
  signal?.throwIfAborted();
  const context = store.fresh(abortable(store.backend, signal));
  const faults: Fault[] = (await context.backend.verify()).map((message) => ({
    thread: "",
    checkpoint: null,
    message,
  }));
  const restoring = (await context.thread(STORE_THREAD).catch(ifDamaged))?.meta.restoring;
  if (restoring !== undefined) faults.push(unfinishedRestore(restoring));
  const onFault = (thread: string, error: unknown): void => void faults.push(faultOf(thread, null, error));
  const lineages = new Lineages(context, faults);
  const numbers = new SharedNumbers(context);
  const isIndexed = await context.index.isComplete().catch((error: unknown) => ifDamaged(error) ?? false);
  const place = after === undefined ? {} : { after };
  let done = 0;
  try {
    for await (const tape of allThreads(context, { onFault, together: 1, ...place })) {
      await lineages.verify(tape);
      if (isIndexed) for (const fault of await indexFaults(context, tape).catch(unread)) faults.push(fault);
      // A read that was refused by the signal looks like a fault of the thread.
      signal?.throwIfAborted();
      await numbers.add(tape);
      done += 1;
      progress?.(done, tape.meta.thread);
    }
    while (numbers.next()) {
      for await (const tape of allThreads(context, { onFault: () => {}, ...place })) {
        signal?.throwIfAborted();
        await numbers.add(tape);
      }
    }
  } catch (error) {
    // Damage of the list of threads is an answer to verify(), not a failure of it.
    if (!isCorrupt(error)) throw error;
    onFault("", error);
  }
  for (const fault of await numbers.faults()) faults.push(fault);
  if (!isIndexed) return { ok: faults.length === 0, faults };
  for await (const wrong of wrongEntries(context)) {
    // A run is proved on reading: its entry may outlive the tape, until the store is compacted.
    for (const { entry } of wrong) if (!entry.text.startsWith("r")) faults.push(wrongEntry(entry));
    signal?.throwIfAborted();
  }
  return { ok: faults.length === 0, faults };
}

function unfinishedRestore(at: number): Fault {
  const what = `A restore that began at ${new Date(at).toISOString()} has not ended: threads may be missing, or be older than the backups.`;
  return { thread: "", checkpoint: null, message: `${what} Run it again.` };
}

/** Returns no faults of the index for a thread that cannot be read: that is reported as such. */
function unread(error: unknown): readonly Fault[] {
  return ifDamaged(error) ?? [];
}

function wrongEntry({ text, lineage, tape }: IndexEntry): Fault {
  const what = `The index has ${JSON.stringify(text)} for tape ${lineage}:${tape}, which is not so. Run reindex().`;
  return { thread: "", checkpoint: null, message: what };
}

/** Tapes and lineages that are remembered to be verified. */
const REMEMBERED = 2 ** 16;

/** A tape whose thread was read with everything it shows: its last seq, and whether forks need not read it again. */
interface Verified {
  readonly lastSeq: number;
  readonly sound: boolean;
}

/** Verifies threads, each after the one it was forked from, so that inherited rows are not read again for every fork. */
class Lineages {
  readonly #context: EngineContext;
  readonly #faults: Fault[];
  /** By the tapes' names. A tape that is forgotten is verified once more where a fork needs it. */
  readonly #verified = new ByteCache<string, Verified>(REMEMBERED);
  /** Lineages whose large values were verified. */
  readonly #lineages = new ByteCache<number, true>(REMEMBERED);
  /** Tapes and lineages whose fault was reported, so that none is reported twice. */
  readonly #told = new Set<string | number>();

  constructor(context: EngineContext, faults: Fault[]) {
    this.#context = context;
    this.#faults = faults;
  }

  async verify(tape: Tape): Promise<void> {
    const sources: number[] = [];
    for (
      let level: Tape | undefined = tape;
      level?.meta.origin && !this.#verified.get(tapeName(tape.lineage, level.meta.origin.tape));
      level = await this.#context.tapes.refresh(level.meta.origin.tape, level.lineage).catch(ifDamaged)
    ) {
      sources.push(level.meta.origin.tape);
    }
    for (let number = sources.pop(); number !== undefined; number = sources.pop()) {
      const source = await this.#context.tapes.refresh(number, tape.lineage).catch(ifDamaged);
      // A source that does not read is reported by its forks.
      if (source) await this.#verifyOne(source);
    }
    await this.#verifyOne(tape);
    if (this.#lineages.get(tape.lineage)) return;
    if (tape.meta.origin || tape.meta.generation > 0) this.#lineages.set(tape.lineage, true, 1);
    const faults: Fault[] = [];
    await verifyValues(this.#context, tape.lineage, (error) => faults.push(faultOf(tape.meta.thread, null, error)));
    this.#tell(tape.lineage, faults);
  }

  async #verifyOne(tape: Tape): Promise<void> {
    if (this.#verified.get(tape.name)) return;
    const { origin, dead } = tape.meta;
    const { lastSeq } = tape;
    const source = origin && this.#verified.get(tapeName(tape.lineage, origin.tape));
    const counts = origin && source?.sound && origin.upTo <= source.lastSeq && isInheritedAsIs(tape);
    const faults = await threadFaults(this.#context, tape, counts ? origin.upTo : 0);
    // A deleted thread shows nothing: faults of its tape are reported by the forks that need it.
    if (!dead) this.#tell(tape.name, faults);
    // Of a tape that was never forked no other tape needs to know: so a store of single threads is verified in little memory.
    if (!origin && tape.meta.generation === 0) return;
    // Invariant: a plain tape shows its forks nothing but what it shows itself.
    this.#verified.set(tape.name, { lastSeq, sound: faults.length === 0 && isPlain(tape) }, 1);
    // Otherwise a chain of tapes, each holding the next, would keep all of them in memory.
    tape.source = undefined;
  }

  #tell(name: string | number, faults: readonly Fault[]): void {
    if (faults.length === 0 || this.#told.has(name)) return;
    this.#told.add(name);
    for (const fault of faults) this.#faults.push(fault);
  }
}

/** Returns true if a fork shows inherited rows as its source does: no mark of its own, no other line. */
function isInheritedAsIs({ meta, marks }: Tape): boolean {
  return marks.size === 0 && !meta.origin?.parents && !meta.origin?.starts;
}

/**
 * Returns a fault for each part of the thread that cannot be read, apart from records that others have removed or moved
 * meanwhile. Rows up to the seq `after` are left out.
 */
async function threadFaults(known: EngineContext, found: Tape, after: number): Promise<readonly Fault[]> {
  const { thread } = found.meta;
  try {
    const first = await faultsOf(known, found, after);
    if (first.length === 0) return first;
    // Others may have changed the thread meanwhile. From here on that is noticed.
    for (const attempts = new Attempts(); ; ) {
      // The remembered rows may be of either side of the change.
      const context = known.fresh();
      const tape = found.meta.dead
        ? await context.tapes.refresh(found.number, found.lineage)
        : await context.thread(thread);
      if (!tape) return [];
      const holds = await standingOf(context, tape);
      const own = await faultsOf(context, tape, after);
      if (own.length === 0 || (await holds()) || !(await attempts.again())) return own;
    }
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    return [faultOf(thread, null, error)];
  }
}

/** Returns the faults of a tape that no other store can change. */
export function tapeFaults(context: EngineContext, tape: Tape): Promise<readonly Fault[]> {
  return faultsOf(context, tape, 0);
}

async function faultsOf(context: EngineContext, tape: Tape, after: number): Promise<Fault[]> {
  const { thread } = tape.meta;
  const faults: Fault[] = [];
  const onFault = (error: unknown, checkpoint?: string): void =>
    void faults.push(faultOf(thread, checkpoint ?? null, error));
  try {
    await verifyRows(context, tape, after, onFault);
  } catch (error) {
    onFault(error);
  }
  return faults;
}

function faultOf(thread: string, checkpoint: string | null, error: unknown): Fault {
  return { thread, checkpoint, message: error instanceof Error ? error.message : String(error) };
}
