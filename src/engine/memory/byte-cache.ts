interface Slot<V> {
  readonly value: V;
  bytes: number;
  used: number;
}

/**
 * A map that forgets the entries used longest ago once they weigh more than `limit` bytes. Using an entry only notes
 * when; the order is worked out when something has to be forgotten.
 */
export class ByteCache<K, V> {
  readonly #slots = new Map<K, Slot<V>>();
  readonly #limit: number;
  #bytes = 0;
  #clock = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: K): V | undefined {
    const slot = this.#slots.get(key);
    if (slot === undefined) return undefined;
    this.#clock += 1;
    slot.used = this.#clock;
    return slot.value;
  }

  set(key: K, value: V, bytes: number): void {
    this.#clock += 1;
    this.#bytes += bytes - (this.#slots.get(key)?.bytes ?? 0);
    this.#slots.set(key, { value, bytes, used: this.#clock });
    if (this.#bytes > this.#limit) this.#forget(key);
  }

  /** Changes the weight of an entry; returns false if the key no longer holds this value. */
  weigh(key: K, value: V, bytes: number): boolean {
    const slot = this.#slots.get(key);
    if (slot === undefined || slot.value !== value) return false;
    this.#clock += 1;
    slot.used = this.#clock;
    this.#bytes += bytes - slot.bytes;
    slot.bytes = bytes;
    if (this.#bytes > this.#limit) this.#forget(key);
    return true;
  }

  delete(key: K): void {
    const slot = this.#slots.get(key);
    if (slot === undefined) return;
    this.#slots.delete(key);
    this.#bytes -= slot.bytes;
  }

  clear(): void {
    this.#slots.clear();
    this.#bytes = 0;
  }

  /** Forgets entries down to three quarters of the limit. The newest stays, however large: it is about to be used. */
  #forget(newest: K): void {
    const oldestFirst = [...this.#slots].sort(([, left], [, right]) => left.used - right.used);
    for (const [key] of oldestFirst) {
      if (this.#bytes <= this.#limit * 0.75) return;
      if (key !== newest) this.delete(key);
    }
  }
}
