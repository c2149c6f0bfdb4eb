import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type OpenOptions, open, type Store } from "../../src/index.ts";
import type { Costs } from "./model.ts";

/** Callers that put at the same time, each on a thread of its own. */
export const CALLERS = 64;
/** Threads of the runs that the costs are taken from. */
const FEW = 6_400;

interface State {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** A run over many threads: each gets a first checkpoint, then, in the same order, another one. */
export interface MeasuredRun {
  readonly threads: number;
  readonly createSeconds: number;
  readonly stepSeconds: number;
  readonly bytesOfThread: number;
  readonly bytesOfStep: number;
  /** Bytes of JavaScript's heap after the run, caches included. */
  readonly heap: number;
}

const collect = (): void => {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
};

/** About 250 bytes of a message, different for each thread and step. */
function message(thread: number, step: number): { readonly role: string; readonly content: string } {
  return {
    role: step % 2 === 0 ? "user" : "assistant",
    content: `${thread}:${step} ${"some words of a talk ".repeat(11)}`,
  };
}

const idOf = (thread: number): string => `thread-${(thread * 0x9e3779b1) >>> 0}-${thread}`;

/** Puts once on each of `threads` threads, with `callers` at a time. Resolves to the seconds it took. */
async function putOnAll(
  store: Store<State>,
  threads: number,
  callers: number,
  step: number,
  from = 0,
): Promise<number> {
  const since = performance.now();
  let next = from;
  const put = async (thread: number): Promise<unknown> => {
    const messages = [message(thread, step)];
    const input = step === 0 ? { state: { messages } } : { update: { append: { messages } } };
    return store.thread(idOf(thread)).put(input);
  };
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (next < from + threads) await put(next++);
    }),
  );
  return (performance.now() - since) / 1000;
}

/** Measures the costs of the model on an empty store at `url`. */
export async function measureCosts(url: string, options: OpenOptions): Promise<Costs> {
  const opened = (): Promise<Store<State>> => open<State>(url as "memory:", options);
  let store = await opened();
  await putOnAll(store, FEW, CALLERS, 0);
  await putOnAll(store, FEW, CALLERS, 1);
  const created = await perOperation(FEW, (callers, from) => putOnAll(store, FEW, callers, 0, from), FEW);
  // Threads in the order in which they are remembered: the last ones.
  const stepped = await perOperation(FEW, (callers, from) => putOnAll(store, FEW / 4, callers, 2, from), FEW, 4);
  const heapBefore = heapOf();
  await store.close();
  store = await opened();
  const cold = (await putOnAll(store, FEW, CALLERS, 3, FEW)) / FEW;
  const remembered = (heapOf() - heapBefore) / FEW;
  const before = await total(store);
  await putOnAll(store, FEW, CALLERS, 0, 3 * FEW);
  const withThreads = await total(store);
  await putOnAll(store, FEW, CALLERS, 1, 3 * FEW);
  const withSteps = await total(store);
  await store.close();
  const micro = (seconds: number): number => Math.round(seconds * 1e8) / 100;
  return {
    call: micro(created.call),
    create: micro(created.each),
    step: micro(stepped.each),
    cold: micro(Math.max(0, cold - stepped.each - created.call / CALLERS)),
    bytesOfThread: Math.round((withThreads - before) / FEW),
    bytesOfStep: Math.round((withSteps - withThreads) / FEW),
    remembered: Math.max(1_000, Math.round(remembered)),
  };
}

function heapOf(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

async function total(store: Store<State>): Promise<number> {
  return (await store.stats()).bytes.total as number;
}

/** Solves for the costs of a call and of each operation, from calls of one and of 64 operations. */
async function perOperation(
  count: number,
  run: (callers: number, from: number) => Promise<number>,
  from: number,
  share = 1,
): Promise<{ readonly call: number; readonly each: number }> {
  const alone = (await run(1, from)) / (count / share);
  const together = (await run(CALLERS, from + count)) / (count / share);
  const call = Math.max(0, (alone - together) / (1 - 1 / CALLERS));
  return { call, each: together - call / CALLERS };
}

/** Measures a run over many threads on an empty store at `url`; `size` resolves to the bytes that it takes. */
export async function measureRun(
  url: string,
  options: OpenOptions,
  threads: number,
  size: (store: Store<State>) => Promise<number> = total,
): Promise<MeasuredRun> {
  const store = await open<State>(url as "memory:", options);
  const createSeconds = await putOnAll(store, threads, CALLERS, 0);
  const bytes = await size(store);
  const stepSeconds = await putOnAll(store, threads, CALLERS, 1);
  const heap = heapOf();
  const after = await size(store);
  await store.close();
  return {
    threads,
    createSeconds,
    stepSeconds,
    bytesOfThread: Math.round(bytes / threads),
    bytesOfStep: Math.round((after - bytes) / threads),
    heap,
  };
}
