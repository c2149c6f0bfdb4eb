import type { Answer, IndexEntry, Listed, Read } from "../../backend.ts";
import { encryptedStore } from "../../codec/envelope.ts";
import { storeKey } from "../records/keys.ts";
import { COMPLETE, textBehind } from "../records/store-wide/index-entries.ts";

/** Finds the entry of a complete index, whether there is any thread, and whether the store needs keys. */
export const indexReads: readonly Read[] = [
  { find: { from: COMPLETE, to: textBehind(COMPLETE), limit: 1 } },
  { list: { limit: 1 } },
  { get: storeKey },
];

/** Knows whether the index has every thread of the store, and whether the store was opened without the keys it needs. */
export class KnownIndex {
  /** Called when the index turns out to lack threads. */
  onPartial: (() => void) | undefined;
  readonly #read: (reads: readonly Read[]) => Promise<readonly Answer[]>;
  readonly #isEncrypted: boolean;
  #index: "complete" | "partial" | "empty" | undefined;
  #needsNoKeys = false;

  constructor(read: (reads: readonly Read[]) => Promise<readonly Answer[]>, isEncrypted: boolean) {
    this.#read = read;
    this.#isEncrypted = isEncrypted;
  }

  /** Returns true if the store was looked at before. */
  get isKnown(): boolean {
    return this.#index !== undefined;
  }

  /**
   * Resolves to whether every thread is in the index. A store of an earlier version gets its index in the background, and until
   * then lacks some entries.
   */
  async isComplete(): Promise<boolean> {
    if (this.#index !== "complete") this.learn(await this.#read(indexReads));
    return this.#index !== "partial";
  }

  /** Returns true if the store had no thread when it was first looked at: its first thread begins a complete index. */
  get isEmpty(): boolean {
    return this.#index === "empty";
  }

  /** Notes that the index is complete. */
  complete(): void {
    this.#index = "complete";
  }

  /** Takes in the answers to {@link indexReads}. Throws `KEY` if the store is encrypted and was opened without keys. */
  learn([marker, threads, keys]: readonly Answer[]): void {
    if (keys !== undefined) throw encryptedStore();
    this.#needsNoKeys = true;
    if ((marker as readonly IndexEntry[]).length > 0) this.#index = "complete";
    else this.#index = (threads as readonly Listed[]).length > 0 ? "partial" : "empty";
    if (this.#index === "partial") this.onPartial?.();
  }

  /** Throws `KEY` where keys are missing: a store that hides its ids then seems to have no threads. */
  async expectNoKeys(): Promise<void> {
    if (this.#needsNoKeys || this.#isEncrypted) return;
    const [stored] = await this.#read([{ get: storeKey }]);
    if (stored !== undefined) throw encryptedStore();
    this.#needsNoKeys = true;
  }
}
