import type { Delta } from "../format.ts";
import type { KeyRun } from "../key-places.ts";

/** A key in a list of keys, or the end of the list. */
interface Slot {
  readonly key: string | undefined;
  previous: Slot;
  next: Slot;
}

/** Keys in an order that may grow in the middle. */
class KeyList {
  readonly #end: Slot = newSlot(undefined);

  get end(): Slot {
    return this.#end;
  }

  *[Symbol.iterator](): Generator<string> {
    for (let slot = this.#end.next; slot !== this.#end; slot = slot.next) yield slot.key as string;
  }
}

function newSlot(key: string | undefined): Slot {
  const slot = { key } as Slot;
  slot.previous = slot;
  slot.next = slot;
  return slot;
}

function insertBefore(slot: Slot, key: string): Slot {
  const added: Slot = { key, previous: slot.previous, next: slot };
  slot.previous.next = added;
  slot.previous = added;
  return added;
}

function take(slot: Slot): void {
  slot.previous.next = slot.next;
  slot.next.previous = slot.previous;
}

/** The slots that a placed key will have, once the keys that the same delta removes are gone. */
interface NewPlace {
  readonly key: string;
  readonly set: Slot | undefined;
  readonly placed: Slot | undefined;
}

/**
 * The order of keys after composed deltas, without a tree. A key that is set may have been there before, and then stays where it
 * was, or be new, and then comes to the end; the composed delta serves both.
 *
 * Invariant: in the order of `s`, a placed key stands right before its anchor if that was set, too. So a run whose anchor turns out
 * not to have been there before all deltas leaves its keys in the right order at the end.
 */
export class ComposedOrder {
  /** All keys that were set, in the order that those which are new have at the end. */
  readonly #set = new KeyList();
  readonly #setSlots = new Map<string, Slot>();
  /** By anchor, the keys that stand before the place it had before all deltas. */
  readonly #runs = new Map<string, KeyList>();
  readonly #placedSlots = new Map<string, Slot>();
  /** The order of all keys, once a delta has named it: then there are no runs. */
  #whole: Set<string> | undefined;

  constructor(keys: Iterable<string>) {
    for (const key of keys) this.set(key);
  }

  /** Notes that a key was set: a new one comes to the end. */
  set(key: string): void {
    this.#whole?.add(key);
    if (!this.#setSlots.has(key)) this.#setSlots.set(key, insertBefore(this.#set.end, key));
  }

  unset(key: string): void {
    this.#whole?.delete(key);
    for (const slots of [this.#setSlots, this.#placedSlots]) {
      const slot = slots.get(key);
      if (slot !== undefined) take(slot);
      slots.delete(key);
    }
  }

  /** Takes the order of all keys that a delta names. */
  orderAll(keys: ReadonlySet<string>): void {
    this.#whole = new Set(keys);
    this.#runs.clear();
    this.#placedSlots.clear();
  }

  /**
   * Finds the places of a delta's new keys, before its other members take effect: anchors may be among the keys that it removes.
   * `isRemoved` tells which keys earlier deltas removed, whether or not they were set again. Returns a function that places the keys,
   * once the delta's own keys are removed.
   */
  find(runs: readonly KeyRun[], isRemoved: (key: string) => boolean): () => void {
    return this.#whole ? this.#findInWhole([...this.#whole], runs) : this.#findByAnchor(runs, isRemoved);
  }

  #findByAnchor(runs: readonly KeyRun[], isRemoved: (key: string) => boolean): () => void {
    const places: NewPlace[] = [];
    for (const { anchor, keys } of runs) {
      const beforeSet = this.#setSlots.get(anchor);
      const beforePlaced = this.#placedSlots.get(anchor) ?? (isRemoved(anchor) ? undefined : this.#run(anchor).end);
      for (const key of keys) {
        const set = beforeSet && insertBefore(beforeSet, key);
        const placed = beforePlaced && insertBefore(beforePlaced, key);
        places.push({ key, set, placed });
      }
    }
    return () => {
      for (const { key, set, placed } of places) {
        if (set) this.#setSlots.set(key, set);
        if (placed) this.#placedSlots.set(key, placed);
      }
    };
  }

  #run(anchor: string): KeyList {
    const run = this.#runs.get(anchor) ?? new KeyList();
    this.#runs.set(anchor, run);
    return run;
  }

  #findInWhole(before: readonly string[], runs: readonly KeyRun[]): () => void {
    const byAnchor = new Map(runs.map(({ anchor, keys }) => [anchor, keys]));
    return () => {
      const left = this.#whole as ReadonlySet<string>;
      const order = new Set<string>();
      for (const key of before) {
        for (const placed of byAnchor.get(key) ?? []) order.add(placed);
        if (left.has(key)) order.add(key);
      }
      this.#whole = order;
    };
  }

  /** Returns the keys that were set, in the order of `s`. */
  keys(): Iterable<string> {
    return this.#set;
  }

  /** Adds the places and the order to the composed delta. */
  addTo(delta: Delta): void {
    if (this.#whole !== undefined) {
      delta.o = [...this.#whole];
      return;
    }
    const runs: NonNullable<Delta["m"]> = [];
    for (const [anchor, run] of this.#runs) {
      const keys = [...run];
      if (keys.length > 0) runs.push([anchor, ...keys]);
    }
    if (runs.length > 0) delta.m = runs;
  }
}
