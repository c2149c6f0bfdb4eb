import { open, type Store, type Thread, ThreadmarkError } from "threadmark";

/*
 * Compiled by `npm run typecheck`, never run: each `@ts-expect-error` is a mistake that must not compile.
 */

interface State {
  readonly messages: string[];
  readonly n: number;
}

export async function openOptions(url: string): Promise<void> {
  await open("sqlite:x.db", { busyTimeout: 5, cacheBytes: 1 });
  await open<State>(url, { schema: "agents", connections: 3 });
  // @ts-expect-error: the option is readOnly.
  await open("sqlite:x.db", { readonly: true });
  // @ts-expect-error: the option is readOnly.
  await open<State>(url, { readonly: true });
  // @ts-expect-error: an option of postgres.
  await open("sqlite:x.db", { connections: 3 });
  // @ts-expect-error: an option of sqlite.
  await open("postgres://localhost/x", { busyTimeout: 5 });
  // @ts-expect-error: an option of sqlite.
  await open("memory:", { busyTimeout: 5 });
  // @ts-expect-error: an option of sqlite.
  await open("file:./x", { busyTimeout: 5 });
}

export async function threads(store: Store, thread: Thread<State>): Promise<void> {
  const typed: Thread<State> = store.thread<State>("t");
  await typed.put({ update: { append: { messages: ["a"] }, set: { n: 2 }, unset: ["n"] } }, { parent: { step: 1 } });
  // @ts-expect-error: n is no list.
  await typed.put({ update: { append: { n: 1 } } });
  // @ts-expect-error: the state has no such key.
  await typed.put({ update: { set: { m: 1 } } });
  // @ts-expect-error: the option is expect.
  await thread.put({ state: { messages: [], n: 1 } }, { expects: "a" });
  // @ts-expect-error: one of step, seq and label.
  await thread.get({ steps: 1 });
  // @ts-expect-error: prune needs a rule.
  await thread.prune();
  // @ts-expect-error: the option is keepLast.
  await thread.prune({ keeplast: 1 });
  // @ts-expect-error: the option is limit.
  for await (const _ of thread.history({ limits: 1 })) break;
  // @ts-expect-error: the status is paused.
  for await (const _ of store.threads({ status: "pause" })) break;
  // @ts-expect-error: writes are saved against an id.
  await thread.putWrites({ step: 1 }, { task: "t", writes: [] });
}

export function errors(error: unknown): void {
  if (ThreadmarkError.is(error, "BUSY")) {
    const holder: string | undefined = error.holder;
    const remaining: number | undefined = error.remaining;
    console.log(holder, remaining, error.message);
    // @ts-expect-error: no fact of BUSY.
    console.log(error.frame);
  }
  // @ts-expect-error: no such code.
  ThreadmarkError.is(error, "BUSSY");
}
