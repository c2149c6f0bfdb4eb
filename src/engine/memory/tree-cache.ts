import { copyJson } from "../../codec/copy.ts";
import type { Json } from "../../codec/json.ts";
import { BYTES_OF_UNIT } from "../../codec/json-text.ts";
import type { Body } from "../records/body.ts";
import { outlineOf } from "./outline.ts";
import { TreeOwner } from "./tree-owner.ts";

/** A remembered tree, or its outline. Its owner alone may change it. */
export interface TreeEntry {
  tree: Json;
  /** `tree` is only its outline: see {@link outlineOf}. */
  outlined: boolean;
  tagged: boolean;
  /** Bytes that have to be read to build the tree: the last full frame and the deltas since. */
  weight: number;
  /** Bytes of the tree's JSON when it was last measured; 0 if never. */
  size: number;
  /** About how many bytes it has grown by since then. */
  grown: number;
  /** At most how many bytes of UTF-8 the tree's JSON takes. */
  most: number;
  /** How many tapes those bytes are spread over. */
  hops: number;
  owner: TreeOwner;
}

/** The caller's own copy of a remembered tree, and what it took to build it. */
export type CopiedTree = Readonly<Pick<TreeEntry, "tree" | "tagged" | "weight" | "hops">>;

/** Returns an entry for a tree that was just built from storage. */
export function loadedEntry(loaded: Pick<TreeEntry, "tree" | "tagged" | "weight" | "hops">): TreeEntry {
  // The true size is unknown. A third of the bytes read is its lower bound, so that it is measured soon.
  const size = Math.ceil(loaded.weight / 3);
  const most = loaded.weight * BYTES_OF_UNIT;
  return { ...loaded, outlined: false, size, grown: 0, most, owner: new TreeOwner() };
}

/** Returns the outline of a tree as an entry, or undefined if that would be too large. */
export function outlinedEntry(entry: Omit<TreeEntry, "tree">, tree: Body): TreeEntry | undefined {
  const outline = outlineOf(tree);
  return outline && { ...entry, tree: outline, outlined: true, owner: new TreeOwner() };
}

/** The part of a tape that, with a seq, names a tree. */
interface Home {
  readonly name: string;
  readonly meta: { readonly folds?: number };
}

interface Slot {
  readonly entry: TreeEntry;
  readonly folds: number;
  readonly bytes: number;
  used: number;
}

/**
 * Trees of recent heads, by tape and seq. Once they weigh more than `limit` bytes, of those used longest ago only the
 * outline is kept, and in the end not even that.
 *
 * Invariant: an entry is never stale. A frame's address is never reused, and its content changes only when a compaction
 * folds a replacement in, which is counted.
 */
export class TreeCache {
  readonly #tapes = new Map<string, Map<number, Slot>>();
  readonly #limit: number;
  #bytes = 0;
  #clock = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns the entry of a whole tree. */
  get(home: Home, seq: number): TreeEntry | undefined {
    const entry = this.wholeOrOutline(home, seq);
    return entry?.outlined ? undefined : entry;
  }

  /**
   * Runs `read` on a remembered tree; returns undefined if there is none.
   *
   * Invariant: the next commit may change the tree in place. So `read` is done with it when it returns: it is not
   * asynchronous, and its result shares no node with the tree.
   */
  read<T>(home: Home, seq: number, read: (entry: Readonly<TreeEntry>) => T): T | undefined {
    const entry = this.get(home, seq);
    if (entry === undefined) return undefined;
    const result = read(entry);
    if (result instanceof Promise) throw new TypeError("A remembered tree must be read at once.");
    return result;
  }

  /** Returns a remembered tree as a copy that later commits leave alone. */
  copy(home: Home, seq: number): CopiedTree | undefined {
    return this.read(home, seq, ({ tree, tagged, weight, hops }) => ({ tree: copyJson(tree), tagged, weight, hops }));
  }

  wholeOrOutline({ name, meta }: Home, seq: number): TreeEntry | undefined {
    const slot = this.#tapes.get(name)?.get(seq);
    if (slot === undefined || slot.folds !== (meta.folds ?? 0)) return undefined;
    this.#clock += 1;
    slot.used = this.#clock;
    return slot.entry;
  }

  set({ name, meta }: Home, seq: number, entry: TreeEntry): void {
    let slots = this.#tapes.get(name);
    if (!slots) {
      slots = new Map();
      this.#tapes.set(name, slots);
    }
    const bytes = bytesOf(entry);
    this.#bytes += bytes - (slots.get(seq)?.bytes ?? 0);
    this.#clock += 1;
    slots.set(seq, { entry, folds: meta.folds ?? 0, bytes, used: this.#clock });
    if (this.#bytes > this.#limit) this.#forget();
  }

  delete({ name }: Home, seq: number): void {
    const slots = this.#tapes.get(name);
    const slot = slots?.get(seq);
    if (!slots || !slot) return;
    slots.delete(seq);
    this.#bytes -= slot.bytes;
  }

  clear(): void {
    this.#tapes.clear();
    this.#bytes = 0;
  }

  /** Forgets trees down to three quarters of the limit. The newest stays, however large: it is about to be used. */
  #forget(): void {
    const slots = [...this.#tapes].flatMap(([name, bySeq]) =>
      [...bySeq].map(([seq, { used }]) => ({ home: { name, meta: {} }, seq, used })),
    );
    slots.sort((left, right) => left.used - right.used);
    slots.pop();
    const enough = this.#limit * 0.75;
    for (const { home, seq } of slots) {
      if (this.#bytes <= enough) break;
      this.#outline(home, seq);
    }
    for (const { home, seq } of slots) {
      if (this.#bytes <= enough) break;
      this.delete(home, seq);
    }
    for (const [name, bySeq] of this.#tapes) if (bySeq.size === 0) this.#tapes.delete(name);
  }

  #outline(home: Home, seq: number): void {
    const slots = this.#tapes.get(home.name) as Map<number, Slot>;
    const slot = slots.get(seq) as Slot;
    if (slot.entry.outlined) return;
    this.delete(home, seq);
    const entry = outlinedEntry(slot.entry, slot.entry.tree as Body);
    if (entry === undefined) return;
    const bytes = bytesOf(entry);
    slots.set(seq, { ...slot, entry, bytes });
    this.#bytes += bytes;
  }
}

/** Returns about how many bytes of memory an entry takes: a parsed tree takes about twice those of its JSON. */
function bytesOf({ tree, outlined, weight, size }: TreeEntry): number {
  return 2 * (outlined ? JSON.stringify(tree).length : Math.max(weight, size)) + 500;
}
