/**
 * The bounds of a small store, which `stats` reads and measures: at the bounds that takes less than a second, in files some seconds.
 * The bound on checkpoints holds where the medium does not tell its bytes without counting them.
 */
export const smallStore: { readonly threads: number; readonly bytes: number; readonly checkpoints: number } = {
  threads: 10_000,
  bytes: 64 * 2 ** 20,
  checkpoints: 100_000,
};

/** Facts of a store that cost little. `bytes` is undefined where the medium does not tell; `checkpoints` is known last. */
export interface StoreExtent {
  readonly threads: number;
  readonly bytes: number | undefined;
  readonly checkpoints?: number;
}

/** Decides whether a store is small, as far as is known. */
export function isSmall({ threads, bytes, checkpoints = 0 }: StoreExtent): boolean {
  if (threads > smallStore.threads) return false;
  return bytes === undefined ? checkpoints <= smallStore.checkpoints : bytes <= smallStore.bytes;
}
