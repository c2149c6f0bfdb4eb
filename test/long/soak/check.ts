import assert from "node:assert/strict";
import type { Store } from "../../../src/api/store.ts";
import type { Checkpoint } from "../../../src/index.ts";
import { wholeHistory } from "../../../src/testing/support/snapshot.ts";
import type { Ledger, Told } from "./ledger.ts";
import { fingerprint, type State } from "./state.ts";

/** How many milliseconds the store's clock may differ from that of the moments told. */
const clockMargin = 20;

export interface Found {
  readonly checkpoints: number;
  readonly writes: number;
}

/** Compares a store with all that was acknowledged there, before a compaction and after it. */
export async function check(store: Store<State>, ledger: Ledger): Promise<Found> {
  checkLeases(ledger);
  // A killed process may leave the beginning of a batch behind, which the next write removes, …
  await checkSound(store, /cut short by a crash|a crash came/);
  await checkThreads(store, ledger);
  // … and the beginning of a file, which a compaction removes.
  await store.compact();
  await checkSound(store, /cut short by a crash/);
  return checkThreads(store, ledger);
}

/** Fails if `verify` finds anything but traces of a crash that a message like this announces. */
async function checkSound(store: Store<State>, traces: RegExp): Promise<void> {
  const { faults } = await store.verify();
  const real = faults.filter(({ checkpoint, message }) => checkpoint !== null || !traces.test(message));
  assert.deepEqual(real, [], "what verify finds");
}

async function checkThreads(store: Store<State>, ledger: Ledger): Promise<Found> {
  let checkpoints = 0;
  let writes = 0;
  for (const thread of ledger.threads()) {
    const promises = new Promises(ledger, thread);
    const found = await new ThreadCheck(store, ledger, promises, thread).run();
    checkpoints += found.checkpoints;
    writes += found.writes;
  }
  return { checkpoints, writes };
}

/** While a lease is held, no other process puts into the thread. */
function checkLeases(ledger: Ledger): void {
  const releases = ledger.all("release");
  for (const lease of ledger.all("lease")) {
    if (lease.outcome !== "done") continue;
    const release = releases.find(
      ({ worker, thread, begin }) => worker === lease.worker && thread === lease.thread && begin > lease.end,
    );
    // Its time runs from some moment of the acquisition on, by another clock.
    const runsOut = lease.begin + ((lease.ttl ?? 0) - clockMargin) * 1000;
    const until = Math.min(release?.begin ?? Infinity, runsOut);
    const intruder = ledger
      .putInto(lease.thread)
      .find((put) => put.worker !== lease.worker && put.outcome === "done" && put.begin > lease.end && put.end < until);
    assert.equal(intruder, undefined, `a put during the lease of ${lease.worker} on ${lease.thread}`);
  }
}

/** The promises that acknowledged operations make about one thread. */
class Promises {
  readonly #ledger: Ledger;
  readonly #thread: string;

  constructor(ledger: Ledger, thread: string) {
    this.#ledger = ledger;
    this.#thread = thread;
  }

  /** Whether the thread must be there, must not, or may; and whether an import may have stopped among its writes. */
  standing(): { readonly there: boolean | undefined; readonly partly: boolean } {
    const maker = this.#ledger.makerOf(this.#thread);
    if (!maker) return { there: true, partly: false };
    let there = outcomeOf(maker);
    let partly = false;
    for (const told of this.#ledger.onThread(this.#thread)) {
      if (told.kind === "drop" && told.outcome !== "refused") there = told.outcome === "done" ? false : undefined;
      if (told.kind === "import") there = outcomeOf(told) ?? undefined;
      if (told.kind === "import") partly = told.outcome === "open";
    }
    return { there, partly };
  }

  /** Whether a checkpoint must be there, must not, or may; undefined, too, if nothing was told of it. */
  presence(namespace: string, checkpoint: string): boolean | undefined {
    const told = this.#ledger.onCheckpoint(this.#thread, namespace, checkpoint);
    const deletions = told.filter(({ kind, outcome }) => kind === "delete" && outcome !== "refused");
    // Only a checkpoint that was there is deleted, and none comes back.
    if (deletions.some(({ outcome }) => outcome === "done")) return false;
    const put = told.find(({ kind }) => kind === "put");
    const made = put ? outcomeOf(put) : this.#inherits(namespace, checkpoint);
    if (made !== true) return made;
    const kept = put?.kept ?? this.#isKept(namespace, checkpoint);
    const since = put?.begin ?? 0;
    const prunes = this.#ledger.onThread(this.#thread).filter(({ kind }) => kind === "prune");
    const pruned = !kept && prunes.some(({ outcome, end }) => outcome !== "refused" && end > since);
    return deletions.length > 0 || pruned ? undefined : true;
  }

  /** A fork has the checkpoint that it was made at; a copy all that its source certainly had. */
  #inherits(namespace: string, checkpoint: string): boolean | undefined {
    const maker = this.#ledger.makerOf(this.#thread);
    if (!maker || outcomeOf(maker) !== true) return undefined;
    if (maker.kind === "fork") return (namespace === "" && checkpoint === maker.checkpoint) || undefined;
    const told = this.#ledger.onCheckpoint(maker.thread, namespace, checkpoint);
    const put = told.find(({ kind }) => kind === "put");
    if (!put || !(put.end < maker.begin)) return undefined;
    return new Promises(this.#ledger, maker.thread).presence(namespace, checkpoint) || undefined;
  }

  #isKept(namespace: string, checkpoint: string): boolean {
    const own = this.#ledger.onCheckpoint(this.#thread, namespace, checkpoint).some(({ kept }) => kept);
    const maker = this.#ledger.makerOf(this.#thread);
    return own || (maker !== undefined && new Promises(this.#ledger, maker.thread).#isKept(namespace, checkpoint));
  }

  /** The fingerprints of the states that a checkpoint may have. */
  states(namespace: string, checkpoint: string, until = Infinity): ReadonlySet<string> {
    const told = this.#ledger.onCheckpoint(this.#thread, namespace, checkpoint);
    const puts = told.filter(
      ({ state, outcome, begin }) => state !== undefined && outcome !== "refused" && begin < until,
    );
    const maker = this.#ledger.makerOf(this.#thread);
    const last = (put: Told): boolean =>
      until < Infinity || !puts.some(({ outcome, begin }) => outcome === "done" && begin > put.end);
    const own = puts.filter(last).map(({ state }) => state as string);
    const replaced = puts.some(({ outcome }) => outcome === "done");
    if (!maker || (replaced && until === Infinity)) return new Set(own);
    const inherited = new Promises(this.#ledger, maker.thread).states(
      namespace,
      checkpoint,
      // A maker that was killed has no end: every version that its source had until now may be inherited.
      Math.min(until, maker.end, Number.MAX_VALUE),
    );
    return new Set([...own, ...inherited]);
  }

  /** The tasks whose writes a checkpoint must have, or with `perhaps` may have. */
  tasks(namespace: string, checkpoint: string, perhaps: boolean, until = Infinity): string[] {
    const told = this.#ledger.onCheckpoint(this.#thread, namespace, checkpoint);
    const writes = told.filter(({ kind, outcome, begin, end }) => {
      if (kind !== "write" || outcome === "refused") return false;
      return perhaps ? begin < until : outcome === "done" && (until === Infinity || end < until);
    });
    const tasks = writes.map(({ task }) => task as string);
    const maker = this.#ledger.makerOf(this.#thread);
    if (!maker) return tasks;
    const before = Math.min(until, perhaps ? maker.end : maker.begin);
    return [...tasks, ...new Promises(this.#ledger, maker.thread).tasks(namespace, checkpoint, perhaps, before)];
  }
}

class ThreadCheck {
  readonly #store: Store<State>;
  readonly #ledger: Ledger;
  readonly #promises: Promises;
  readonly #thread: string;

  constructor(store: Store<State>, ledger: Ledger, promises: Promises, thread: string) {
    this.#store = store;
    this.#ledger = ledger;
    this.#promises = promises;
    this.#thread = thread;
  }

  async run(): Promise<Found> {
    const { there, partly } = this.#promises.standing();
    const found = new Map<string, Map<string, Checkpoint<State>>>();
    let checkpoints = 0;
    let writes = 0;
    for (const namespace of ["", "sub"]) {
      const thread = this.#store.thread(this.#thread, namespace === "" ? {} : { namespace: [namespace] });
      const all = await wholeHistory(thread);
      found.set(namespace, new Map(all.map((one) => [one.id, one])));
      checkpoints += all.length;
      const written = await thread.writesOf(all);
      for (const one of all) writes += this.#checkOne(namespace, one, written.get(one.id) ?? [], partly);
    }
    if (there === false) assert.equal(checkpoints, 0, `${this.#thread} was deleted, or never made`);
    if (there === true || checkpoints > 0) this.#checkPresence(found);
    return { checkpoints, writes };
  }

  #checkPresence(found: ReadonlyMap<string, ReadonlyMap<string, unknown>>): void {
    const maker = this.#ledger.makerOf(this.#thread);
    const sources = maker ? [this.#thread, maker.thread] : [this.#thread];
    for (const { namespace = "", checkpoint = "" } of sources.flatMap((source) => [...this.#ledger.putInto(source)])) {
      const promised = this.#promises.presence(namespace, checkpoint);
      const is = found.get(namespace)?.has(checkpoint) ?? false;
      if (promised !== undefined) assert.equal(is, promised, `${this.#thread} ${namespace} has ${checkpoint}`);
    }
  }

  #checkOne(
    namespace: string,
    { id, state, source }: Checkpoint<State>,
    written: readonly { readonly task: string; readonly value: unknown }[],
    partly: boolean,
  ): number {
    const what = `${id} of ${this.#thread} ${namespace}`;
    const states = this.#promises.states(namespace, id);
    // The one that a fork with edits begins with has an id and a state that nobody told.
    if (source !== "fork") assert.ok(states.has(fingerprint(state)), `the state of ${what}`);
    for (const { task, value } of written) assert.deepEqual(value, { task }, `the write of ${task} to ${what}`);
    const tasks = new Set(written.map(({ task }) => task));
    const perhaps = new Set(this.#promises.tasks(namespace, id, true));
    for (const task of tasks) assert.ok(perhaps.has(task), `nobody told of the write of ${task} to ${what}`);
    if (partly) return tasks.size;
    for (const task of this.#promises.tasks(namespace, id, false))
      assert.ok(tasks.has(task), `the write of ${task} to ${what} was acknowledged`);
    return tasks.size;
  }
}

function outcomeOf({ outcome }: Told): boolean | undefined {
  return outcome === "open" ? undefined : outcome === "done";
}
