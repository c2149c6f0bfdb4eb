import {
  type ChangeKind,
  type MeasuredStats,
  open,
  type Stats,
  type Store,
  type Thread,
  ThreadmarkError,
} from "threadmark";

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

interface Planned {
  plan: { steps: { done: boolean; notes: { any: number }[] }[]; draft?: string; at: Date };
}

export async function watching(store: Store): Promise<void> {
  for await (const change of store.watch({ thread: "t", workflow: "w", kinds: ["put", "mail"], after: "c" })) {
    const { kind, thread, namespace, id, seq, cursor } = change;
    const told: [ChangeKind, string, readonly string[], string | null, number, string] = [
      kind,
      thread,
      namespace,
      id,
      seq,
      cursor,
    ];
    console.log(told);
    // @ts-expect-error: a change is read, not written.
    change.seq = 1;
  }
  // @ts-expect-error: no such kind.
  store.watch({ kinds: ["puts"] });
  // @ts-expect-error: the option is thread.
  store.watch({ threads: ["t"] });
}

export async function statistics(store: Store, signal: AbortSignal): Promise<readonly number[]> {
  const { threads, checkpoints, bytes } = await store.stats({ signal });
  const measured: MeasuredStats = await store.measure({ signal, after: "t", progress: (done) => console.log(done) });
  const stats: Stats = measured;
  // @ts-expect-error: null in a larger store.
  const unknown: number = stats.checkpoints;
  // @ts-expect-error: null in a larger store.
  bytes.packs.toFixed();
  // @ts-expect-error: stats is quick by itself.
  await store.stats({ quick: true });
  // @ts-expect-error: measure goes on behind a thread.
  await store.stats({ after: "t" });
  return [
    threads,
    checkpoints ?? 0,
    measured.checkpoints,
    measured.bytes.packs,
    measured.stateVersions[0] ?? 0,
    unknown,
  ];
}

export async function threads(store: Store, thread: Thread<State>): Promise<void> {
  const typed: Thread<State> = store.thread<State>("t");
  await typed.put({ update: { append: { messages: ["a"] }, set: { n: 2 }, unset: ["n"] } }, { parent: { step: 1 } });
  // @ts-expect-error: n is no list.
  await typed.put({ update: { append: { n: 1 } } });
  // @ts-expect-error: the state has no such key.
  await typed.put({ update: { set: { m: 1 } } });
  const planned = store.thread<Planned>("t");
  await planned.put({ update: { patch: [[["plan", "steps", 2, "done"], true], [["plan", "draft"]]] } });
  await planned.put({ update: { patch: [[["plan", "steps", 2, "notes", 0, "any"], 5]] } });
  await planned.put({ update: { patch: [[["plan", "steps"], [{ done: true, notes: [] }]]] } });
  await store.thread("t").put({ update: { patch: [[["any", 5, "path"], Symbol.iterator]] } });
  // @ts-expect-error: done is a boolean.
  await planned.put({ update: { patch: [[["plan", "steps", 2, "done"], "yes"]] } });
  // @ts-expect-error: the plan has no such key.
  await planned.put({ update: { patch: [[["plan", "step", 2], { done: true, notes: [] }]] } });
  // @ts-expect-error: a list has indexes.
  await planned.put({ update: { patch: [[["plan", "steps", "2"], { done: true, notes: [] }]] } });
  // @ts-expect-error: a Date is set as a whole.
  await planned.put({ update: { patch: [[["plan", "at", "year"], 1]] } });
  // @ts-expect-error: a path is a list of steps.
  await planned.put({ update: { patch: [["plan", null]] } });
  // @ts-expect-error: the option is expect.
  await thread.put({ state: { messages: [], n: 1 } }, { expects: "a" });
  // @ts-expect-error: one of step, seq and label.
  await thread.get({ steps: 1 });
  // @ts-expect-error: prune needs a rule.
  await thread.prune();
  await thread.prune({ keepLast: 1 });
  await thread.prune({ olderThan: 1, keepLast: 2, dryRun: true });
  // @ts-expect-error: prune needs a rule.
  await thread.prune({});
  // @ts-expect-error: dryRun is no rule.
  await thread.prune({ dryRun: true, keepLabelled: true });
  // @ts-expect-error: a rule has a value.
  await thread.prune({ keepLast: undefined });
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

export async function schemas(): Promise<void> {
  await open("sqlite:a.db", { schema: { version: 2, migrate: { 1: (state: { a: number }) => ({ b: state.a }) } } });
  await open("memory:", { schema: { workflows: { chat: { version: 1 } } } });
  await open("postgres://localhost/a", { schema: "agents" });
  await open("postgres://localhost/a", { schema: { version: 1 }, databaseSchema: "agents" });
  // @ts-expect-error: a name is for Postgres.
  await open("sqlite:a.db", { schema: "agents" });
  // @ts-expect-error: a schema has a version.
  await open("memory:", { schema: { migrate: {} } });
  // @ts-expect-error: the key is migrate.
  await open("memory:", { schema: { version: 2, migrations: {} } });
}
