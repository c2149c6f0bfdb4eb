import {
  type Backend,
  type Batch,
  type DirectoryKey,
  type Key,
  type Range,
  type Table,
  tables,
} from "../../backend.ts";
import { soon } from "../../platform/turns.ts";

/** Told once how a batch fared: whether it was applied, or why that failed. */
export type Outcome = (applied: boolean, failure?: unknown) => void;

interface Waiting {
  readonly batch: Batch;
  readonly outcome: Outcome;
  /** What the batch touches, once that was asked. */
  places?: readonly Place[];
}

/** With several commits at once, the least that one of them is worth. */
const SHARE = 32;

/** A batch whose records are longer than this goes by itself: should the backend refuse it, no other fails with it. */
const HEAVY = 64 * 1024 * 1024;

/**
 * Group commit: batches that arrive in the same turn, or while the backend has all the commits it can work on at once,
 * go to it together. The lanes see to it that no two of them touch the same tape.
 */
export class Committer {
  readonly #backend: Backend;
  readonly #most: number;
  #waiting: Waiting[] = [];
  #scheduled = false;
  #underWay = 0;
  /** What commits that are under way touch; kept only where there can be several. */
  readonly #held = new Set<Place>();
  readonly #run = (): void => {
    this.#scheduled = false;
    while (this.#waiting.length > 0 && this.#underWay < this.#most) {
      const group = this.#independent();
      if (group.length === 0) return;
      this.#send(group);
    }
  };

  constructor(backend: Backend) {
    this.#backend = backend;
    this.#most = backend.capabilities.commitsAtOnce ?? 1;
  }

  /** Resolves to whether the batch was applied. */
  commit(batch: Batch): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.submit(batch, (applied, failure) => (failure === undefined ? resolve(applied) : reject(failure)));
    });
  }

  /** The same, without a promise. `alone`: nobody else can have a batch in this turn, so it need not be waited for. */
  submit(batch: Batch, outcome: Outcome, alone = false): void {
    this.#waiting.push({ batch, outcome });
    // Where commits go on side by side, a full share need not wait for the rest of the turn: it is sent while that is made.
    const full = this.#most > 1 && this.#waiting.length >= SHARE && this.#underWay < this.#most;
    if (full || (alone && !this.#scheduled && this.#underWay === 0)) this.#run();
    else this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0 || this.#underWay >= this.#most) return;
    this.#scheduled = true;
    soon(this.#run);
  }

  #send(group: readonly Waiting[]): void {
    this.#underWay += 1;
    const holds = this.#most > 1;
    if (holds) for (const entry of group) for (const place of placesOf(entry)) this.#held.add(place);
    const done = (): void => {
      this.#underWay -= 1;
      if (holds) for (const entry of group) for (const place of placesOf(entry)) this.#held.delete(place);
      this.#schedule();
    };
    const batches = group.length === 1 ? [(group[0] as Waiting).batch] : group.map((entry) => entry.batch);
    this.#commit(batches).then(
      (outcomes) => {
        done();
        for (let index = 0; index < group.length; index += 1) {
          (group[index] as Waiting).outcome(outcomes[index] === true);
        }
      },
      (failure: unknown) => {
        done();
        for (const { outcome } of group) outcome(false, failure ?? new Error("The backend failed without a reason."));
      },
    );
  }

  /** A backend of somebody's own may throw where it should reject. */
  #commit(batches: readonly Batch[]): Promise<readonly boolean[]> {
    try {
      return this.#backend.commit(batches);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The waiting batches that touch different things, a share of them; the others wait for a later turn. */
  #independent(): readonly Waiting[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 1 && this.#underWay === 0) return waiting;
    const share = Math.max(SHARE, Math.ceil(waiting.length / (this.#most - this.#underWay)));
    const most = this.#most === 1 ? waiting.length : share;
    const taken = new Set<Place>();
    const group: Waiting[] = [];
    for (const entry of waiting) {
      const places = placesOf(entry);
      let free = group.length < most && (group.length === 0 || !(isHeavy(entry) || isHeavy(group[0] as Waiting)));
      for (const place of places) if (taken.has(place) || this.#held.has(place)) free = false;
      if (free) group.push(entry);
      else this.#waiting.push(entry);
      // A batch that waits also holds back those behind it: per place, order is kept.
      for (const place of places) taken.add(place);
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
type Place = number | string;

const tableNumbers = Object.fromEntries(Object.keys(tables).map((name, index) => [name, index])) as Record<
  Table,
  number
>;

function placeOf(key: Key | DirectoryKey | Range): Place {
  return key.table === "directory" ? key.id : tableNumbers[key.table] * 2 ** 31 + key.group;
}

function placesOf(entry: Waiting): readonly Place[] {
  entry.places ??= placesOfBatch(entry.batch);
  return entry.places;
}

/** Some of them may be named twice. */
function placesOfBatch({ checks = [], deletes = [], inserts = [], puts = [] }: Batch): Place[] {
  const places: Place[] = [];
  for (const { key } of checks) places.push(placeOf(key));
  for (const key of deletes) places.push(placeOf(key));
  for (const { key } of inserts) places.push(placeOf(key));
  for (const { key } of puts) places.push(placeOf(key));
  return places;
}
