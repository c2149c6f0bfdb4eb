import type { Checkpoint, CheckpointInfo, Store, Thread } from "../../../src/index.ts";
import { collect } from "../../support/collect.ts";
import { fingerprint, type State, step } from "./state.ts";
import type { Operation } from "./told.ts";

type Doing = <T>(operation: Operation, action: () => Promise<T>) => Promise<T | undefined>;

const kept = "kept";
/** A loop has so many threads of its own; then it deletes the oldest. */
const mostOwn = 3;
const leaseMilliseconds = 150;

/** A loop of a worker, which does one random operation after the other. */
export class Activity {
  readonly #store: Store<State>;
  readonly #name: string;
  readonly #shared: readonly string[];
  readonly #doing: Doing;
  readonly #own: string[] = [];
  #count = 0;

  constructor(store: Store<State>, name: string, shared: readonly string[], doing: Doing) {
    this.#store = store;
    this.#name = name;
    this.#shared = shared;
    this.#doing = doing;
  }

  async next(): Promise<void> {
    const id = one([...this.#shared, ...this.#shared, ...this.#own]);
    const nested = Math.random() < 0.15;
    const thread = this.#store.thread(id, nested ? { namespace: ["sub"] } : {});
    const root = this.#store.thread(id);
    const dice = Math.random() * 100;
    if (dice < 45) return this.#put(thread);
    if (dice < 70) return this.#write(thread);
    if (dice < 74) return this.#replace(thread);
    if (dice < 80) return this.#delete(thread);
    if (dice < 83) return this.#prune(root);
    if (dice < 88) return this.#fork(root);
    if (dice < 90) return this.#copy(root);
    if (dice < 93) return this.#again();
    if (dice < 98) return this.#leased(root);
    await this.#doing({ kind: "compact", thread: "" }, () => this.#store.compact());
  }

  #fresh(): string {
    return `${this.#name}${this.#count++}`;
  }

  async #put(thread: Thread<State>, options: Parameters<Thread<State>["put"]>[1] = {}): Promise<void> {
    const parent = Math.random() < 0.8 ? await thread.latest() : await this.#some(thread);
    const checkpoint = this.#fresh();
    const { after, update } = step(parent?.state, checkpoint);
    const isKept = Math.random() < 0.15;
    const input = {
      id: checkpoint,
      label: isKept ? kept : "",
      run: isKept ? kept : checkpoint,
      // A kept checkpoint may be replaced at any moment, and an update would apply to the other state.
      ...(update && parent?.label !== kept && Math.random() < 0.7 ? { update } : { state: after }),
    } as Parameters<Thread<State>["put"]>[0];
    const expected = Math.random() < 0.2 ? { expect: parent?.id ?? null } : { parent: parent?.id ?? null };
    await this.#doing({ ...place(thread), kind: "put", checkpoint, state: fingerprint(after), kept: isKept }, () =>
      thread.put(input, { ...expected, ...options }),
    );
  }

  async #write(thread: Thread<State>): Promise<void> {
    const there = await recent(thread, 8);
    if (there.length === 0) return;
    const checkpoint = one(there).id;
    const task = this.#fresh();
    await this.#doing({ ...place(thread), kind: "write", checkpoint, task }, () =>
      thread.putWrites(checkpoint, { task, node: "n", writes: [{ channel: "c", value: { task } }] }),
    );
  }

  async #replace(thread: Thread<State>): Promise<void> {
    const there = (await recent(thread, 30)).filter(({ label }) => label === kept);
    if (there.length === 0) return;
    const { id: checkpoint } = one(there);
    const { after } = step(undefined, this.#fresh());
    await this.#doing({ ...place(thread), kind: "replace", checkpoint, state: fingerprint(after), kept: true }, () =>
      thread.put({ id: checkpoint, state: after, label: kept, run: kept }),
    );
  }

  async #delete(thread: Thread<State>): Promise<void> {
    const there = (await recent(thread, 30)).filter(({ label, source }) => label !== kept && source !== "fork");
    if (there.length === 0) return;
    const { id: checkpoint } = one(there);
    await this.#doing({ ...place(thread), kind: "delete", checkpoint }, () =>
      Math.random() < 0.5
        ? thread.deleteCheckpoints([checkpoint])
        : this.#store.thread(thread.id).deleteRun(checkpoint),
    );
  }

  async #prune(thread: Thread<State>): Promise<void> {
    const keepLast = 10 + Math.floor(Math.random() * 60);
    const ancestors = Math.random() < 0.2 ? "protect" : "truncate";
    await this.#doing({ kind: "prune", thread: thread.id }, () =>
      thread.prune({ keepLast, keepLabelled: true, ancestors }),
    );
  }

  async #fork(thread: Thread<State>): Promise<void> {
    const there = await recent(thread, 20);
    if (there.length === 0) return;
    const { id: at } = one(there);
    const into = this.#fresh();
    const edits = Math.random() < 0.3 ? { notes: `edited by ${into}` } : undefined;
    const made = await this.#doing({ kind: "fork", thread: thread.id, checkpoint: at, into }, () =>
      thread.fork({ at, into, ...(edits && { edits }) }),
    );
    if (made) await this.#keep(into);
  }

  async #copy(thread: Thread<State>): Promise<void> {
    const into = this.#fresh();
    const made = await this.#doing({ kind: "copy", thread: thread.id, into }, () => thread.copy(into));
    if (made) await this.#keep(into);
  }

  async #keep(thread: string): Promise<void> {
    this.#own.push(thread);
    if (this.#own.length <= mostOwn) return;
    const oldest = this.#own.shift() as string;
    await this.#doing({ kind: "drop", thread: oldest }, () => this.#store.thread(oldest).delete());
  }

  /** Exports a thread of its own, deletes it, and brings it back. */
  async #again(): Promise<void> {
    if (this.#own.length === 0) return;
    const thread = one(this.#own);
    const bundle = await collect(this.#store.export({ threads: [thread] }));
    const dropped = await this.#doing({ kind: "drop", thread }, async () => {
      await this.#store.thread(thread).delete();
      return true;
    });
    const imported = dropped && (await this.#doing({ kind: "import", thread }, () => this.#store.import(bundle)));
    if (!imported) this.#own.splice(this.#own.indexOf(thread), 1);
  }

  async #leased(thread: Thread<State>): Promise<void> {
    const ttl = leaseMilliseconds;
    const lease = await this.#doing({ kind: "lease", thread: thread.id, ttl }, () =>
      thread.acquire({ holder: this.#name, ttl }),
    );
    if (!lease) return;
    for (let n = 0; n < 3; n += 1) await this.#put(thread, { lease });
    await this.#doing({ kind: "release", thread: thread.id }, () => lease.release());
  }

  async #some(thread: Thread<State>): Promise<Checkpoint<State> | undefined> {
    const there = await recent(thread, 10);
    return there.length === 0 ? undefined : await thread.get(one(there).id);
  }
}

function place(thread: Thread<State>): { readonly thread: string; readonly namespace?: string } {
  const [namespace] = thread.namespace;
  return { thread: thread.id, ...(namespace !== undefined && { namespace }) };
}

async function recent(thread: Thread<State>, limit: number): Promise<CheckpointInfo[]> {
  return collect(thread.history({ limit }));
}

function one<T>(of: readonly T[]): T {
  return of[Math.floor(Math.random() * of.length)] as T;
}
