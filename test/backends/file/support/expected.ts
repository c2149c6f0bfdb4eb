import assert from "node:assert/strict";
import type { Batch } from "../../../../src/backend.ts";
import { type Contents, show, withBatch } from "./workload.ts";

/** The process is killed, or the machine loses power. */
export type Crash = "kill" | "power";

/** The records that must be there, and those that may be, with `fsync: "full"`. */
export class Expected {
  #certain: Contents = new Map();
  /** Batches that were under way when a process was killed, and were found: nobody was told, so power may still take them. */
  #doubtful: Batch[] = [];

  get contents(): Contents {
    return this.#doubtful.reduce(withBatch, this.#certain);
  }

  /** Batches are there for good, and with them all that was found in the same journals. */
  acknowledge(batches: readonly Batch[]): void {
    const places = new Set(batches.flatMap(placesOf));
    const settled: Batch[] = [];
    for (const batch of this.#doubtful.toReversed()) {
      if (!placesOf(batch).some((place) => places.has(place))) continue;
      settled.unshift(batch);
      for (const place of placesOf(batch)) places.add(place);
    }
    this.#doubtful = this.#doubtful.filter((batch) => !settled.includes(batch));
    this.#certain = [...settled, ...batches].reduce(withBatch, this.#certain);
  }

  /** After a crash: each batch that was under way is there, or not. */
  find(contents: Contents, batches: readonly Batch[], crash: Crash, when: string): void {
    const found = show(contents);
    const doubtful = crash === "kill" ? [this.#doubtful] : subsets(this.#doubtful);
    for (const before of doubtful) {
      for (const after of subsets(batches)) {
        const all = [...before, ...after];
        if (show(all.reduce(withBatch, this.#certain)) !== found) continue;
        this.#certain = crash === "kill" ? this.#certain : contents;
        this.#doubtful = crash === "kill" ? all : [];
        return;
      }
    }
    assert.fail(`${when}: neither before nor after.\nfound:\n${found}\n\nbefore:\n${show(this.contents)}`);
  }
}

/** With `fsync: "normal"`: a power cut may take the last commits of a journal, but none from the middle, and none in part. */
export class ExpectedPrefix {
  #base: Contents = new Map();
  #since: Batch[] = [];

  get contents(): Contents {
    return this.#since.reduce(withBatch, this.#base);
  }

  acknowledge(batches: readonly Batch[]): void {
    this.#since.push(...batches);
  }

  find(contents: Contents, batches: readonly Batch[], crash: Crash, when: string): void {
    if (crash === "kill") {
      const match = subsets(batches).find((some) => show(some.reduce(withBatch, this.contents)) === show(contents));
      assert.ok(
        match,
        `${when}: neither before nor after the kill\n${show(contents)}\n\nbefore:\n${show(this.contents)}`,
      );
      this.#since.push(...match);
      return;
    }
    const all = [...this.#since, ...batches];
    const kept = new Map(
      [...new Set(all.flatMap(placesOf))].map((place) => [place, this.#kept(all, place, contents, when)]),
    );
    for (const batch of all) {
      const fates = new Set(placesOf(batch).map((place) => kept.get(place)?.has(batch)));
      assert.ok(fates.size <= 1, `${when}: a batch is there in part`);
    }
    this.#base = contents;
    this.#since = [];
  }

  /** The batches of a journal that are there: all up to one of them. */
  #kept(all: readonly Batch[], place: Place, contents: Contents, when: string): Set<Batch> {
    const own = all.filter((batch) => placesOf(batch).includes(place));
    const found = show(at(contents, place));
    for (let count = own.length; count >= 0; count--) {
      const kept = own.slice(0, count);
      if (show(at(kept.reduce(withBatch, this.#base), place)) === found) return new Set(kept);
    }
    assert.fail(`${when}: ${place} is at no point of its history:\n${found}`);
  }
}

type Place = number | "directory";

function at(contents: Contents, place: Place): Contents {
  return new Map(
    [...contents].filter(([name]) => {
      const [table, group] = name.split(" ");
      return table === "directory" ? place === "directory" : Number(group) === place;
    }),
  );
}

function subsets<Item>(items: readonly Item[]): Item[][] {
  return items.reduce<Item[][]>((all, item) => all.flatMap((one) => [one, [...one, item]]), [[]]);
}

function placesOf({ deletes = [], inserts = [], puts = [] }: Batch): Place[] {
  const keys = [...deletes, ...inserts.map(({ key }) => key), ...puts.map(({ key }) => key)];
  return keys.map((key) => (key.table === "directory" ? "directory" : key.lineage));
}
