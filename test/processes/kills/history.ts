/** The state that a writer puts as its nth: known to it and to whoever checks, without asking each other. */
export interface Told {
  readonly n: number;
  readonly messages: readonly { readonly n: number; readonly text: string }[];
  readonly log: string;
  readonly exact: { readonly at: Date; readonly big: bigint; readonly set: ReadonlySet<number> };
}

/** A list grows this long, then starts anew: deltas and packs over a bounded state. */
const window = 90;

export function message(thread: string, n: number): Told["messages"][number] {
  return { n, text: `${thread} says ${n} ${"·".repeat(n % 40)}` };
}

export function stateAt(thread: string, n: number): Told {
  const first = n - (n % window);
  const numbers = Array.from({ length: n - first + 1 }, (_, index) => first + index);
  return {
    n,
    messages: numbers.map((one) => message(thread, one)),
    log: numbers.join(","),
    exact: { at: new Date(n), big: BigInt(n) ** 9n, set: new Set([n]) },
  };
}

/** Whether the nth state can be put as an update of the one before. */
export function isAppend(n: number): boolean {
  return n % window !== 0 && n % 3 !== 0;
}
