import {
  type Backend,
  type Batch,
  type DirectoryKey,
  type Key,
  type Range,
  type Table,
  tables,
} from "../../backend.ts";
import { observedCommit } from "../../platform/diagnostics.ts";
import { soon } from "../../platform/turns.ts";
import { MOST_TAPES } from "../records/keys.ts";

interface Waiting {
  readonly batch: Batch;
  readonly resolve: (applied: boolean) => void;
  readonly reject: (failure: unknown) => void;
  /** The groups and directory ids that the batch touches, once they were asked for. */
  touched?: readonly KeyGroup[];
}

/** Where several commits can be under way at once, each is given at least this many batches. */
const SHARE = 32;

/** A batch whose records are longer than this goes by itself: should the backend refuse it, no other fails with it. */
const HEAVY = 64 * 1024 * 1024;

/**
 * Group commit: batches that arrive in the same turn, or while the backend has all the commits it can work on at once,
 * go to it together. Invariant: no two batches of one call touch the same group; of one tape, a lane sends one at a time.
 */
export class Committer {
  readonly #backend: Backend;
  readonly #most: number;
  #waiting: Waiting[] = [];
  #scheduled = false;
  #underWay = 0;
  /** The groups that commits under way touch; kept only where there can be several. */
  readonly #held = new Set<KeyGroup>();
  readonly #run = (): void => {
    this.#scheduled = false;
    while (this.#waiting.length > 0 && this.#underWay < this.#most) {
      const group = this.#takeIndependent();
      if (group.length === 0) return;
      this.#send(group);
    }
  };

  constructor(backend: Backend) {
    this.#backend = backend;
    this.#most = backend.capabilities.commitsAtOnce ?? 1;
  }

  /**
   * Resolves to true if the batch was applied, false if it was refused. With `alone`, no other batch can come in this turn,
   * and the commit does not wait for one.
   */
  commit(batch: Batch, alone = false): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject });
      // Where several commits can be under way, a full share is sent while the rest of the turn makes the next.
      const full = this.#most > 1 && this.#waiting.length >= SHARE && this.#underWay < this.#most;
      if (full || (alone && !this.#scheduled && this.#underWay === 0)) this.#run();
      else this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0 || this.#underWay >= this.#most) return;
    this.#scheduled = true;
    soon(this.#run);
  }

  #send(group: readonly Waiting[]): void {
    this.#underWay += 1;
    const holds = this.#most > 1;
    if (holds) for (const entry of group) for (const name of groupsOf(entry)) this.#held.add(name);
    const done = (): void => {
      this.#underWay -= 1;
      if (holds) for (const entry of group) for (const name of groupsOf(entry)) this.#held.delete(name);
      this.#schedule();
    };
    const batches = group.length === 1 ? [(group[0] as Waiting).batch] : group.map((entry) => entry.batch);
    this.#commit(batches).then(
      (outcomes) => {
        done();
        for (let index = 0; index < group.length; index += 1) {
          (group[index] as Waiting).resolve(outcomes[index] === true);
        }
      },
      (failure: unknown) => {
        done();
        for (const { reject } of group) reject(failure ?? new Error("The backend failed without a reason."));
      },
    );
  }

  /** Calls the backend. A user's own backend may throw where it should reject. */
  #commit(batches: readonly Batch[]): Promise<readonly boolean[]> {
    try {
      return observedCommit(this.#backend, batches);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Takes a share of the waiting batches, no two of which touch the same group; the others wait for a later turn. */
  #takeIndependent(): readonly Waiting[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 1 && this.#underWay === 0) return waiting;
    const share = Math.max(SHARE, Math.ceil(waiting.length / (this.#most - this.#underWay)));
    const most = this.#most === 1 ? waiting.length : share;
    const taken = new Set<KeyGroup>();
    const group: Waiting[] = [];
    for (const entry of waiting) {
      const touched = groupsOf(entry);
      let free = group.length < most && (group.length === 0 || !(isHeavy(entry) || isHeavy(group[0] as Waiting)));
      for (const name of touched) if (taken.has(name) || this.#held.has(name)) free = false;
      if (free) group.push(entry);
      else this.#waiting.push(entry);
      // A batch that waits also holds back those behind it: per group, order is kept.
      for (const name of touched) taken.add(name);
    }
    return group;
  }
}

function isHeavy({ batch: { inserts = [], puts = [] } }: Waiting): boolean {
  let length = 0;
  for (const { value } of inserts) length += value.length;
  for (const { value } of puts) length += value.length;
  return length > HEAVY;
}

/** A group of a table, as one number, or a directory id. */
type KeyGroup = number | string;

const tableNumbers = Object.fromEntries(Object.keys(tables).map((name, index) => [name, index])) as Record<
  Table,
  number
>;

function groupOf(key: Key | DirectoryKey | Range): KeyGroup {
  return key.table === "directory" ? key.id : tableNumbers[key.table] * MOST_TAPES + key.group;
}

function groupsOf(entry: Waiting): readonly KeyGroup[] {
  entry.touched ??= groupsOfBatch(entry.batch);
  return entry.touched;
}

/** Returns the groups of a batch's records; some may be named twice. */
function groupsOfBatch({ checks = [], deletes = [], inserts = [], puts = [] }: Batch): KeyGroup[] {
  const touched: KeyGroup[] = [];
  for (const { key } of checks) touched.push(groupOf(key));
  for (const key of deletes) touched.push(groupOf(key));
  for (const { key } of inserts) touched.push(groupOf(key));
  for (const { key } of puts) touched.push(groupOf(key));
  return touched;
}
