import type pg from "pg";
import { type AnyOpenOptions, type OpenOptions, open, type Store } from "../../src/index.ts";
import type { State, Step } from "../workloads/workload.ts";
import { bytesOf, bytesWritten, foldLog, schemaBytes, walPosition } from "./sizes.ts";
import type { Home, HomeKind, Opened, System, Thread } from "./system.ts";

type Backend = Exclude<HomeKind, "none">;
type Compression = NonNullable<OpenOptions["compression"]>;

export const backends: readonly Backend[] = ["memory", "file", "SQLite", "Postgres"];

export function urlOf(home: Home, kind: Backend): string {
  if (kind === "Postgres") return home.url;
  return kind === "memory" ? "memory:" : `${kind.toLowerCase()}:${home.path}`;
}

/** Postgres keeps its own durability, as it is installed; the others sync as the home says. */
export function openOptions(home: Home, kind: Backend): AnyOpenOptions {
  if (kind === "Postgres") return { schema: home.schema };
  return kind === "memory" ? {} : { fsync: home.fsync };
}

/** Returns what every system on a Threadmark store can measure of its home. */
export function medium(
  store: Store<never> | Store,
  home: Home,
  kind: Backend,
  client: () => Promise<pg.Client>,
): Pick<Opened, "bytes" | "written" | "verify"> {
  return {
    async bytes() {
      if (kind === "memory") return undefined;
      await store.compact();
      if (kind === "Postgres") return schemaBytes(await client(), home.schema);
      if (kind === "SQLite") foldLog(home.path);
      return bytesOf(home.path);
    },
    async written() {
      if (kind === "memory") return undefined;
      return kind === "Postgres" ? walPosition(await client()) : bytesWritten();
    },
    async verify() {
      const { ok, faults } = await store.verify();
      if (!ok) throw new Error(`verify found ${JSON.stringify(faults[0])}`);
    },
  };
}

/** A Threadmark store, given whole states or only what changed. */
export function threadmark(
  kind: Backend,
  way: "state" | "update",
  client: () => Promise<pg.Client>,
  compression: Compression = "none",
): System {
  const suffix = compression === "none" ? "" : `, ${compression}`;
  return {
    name: `Threadmark, ${kind}, put({ ${way} })${suffix}`,
    home: kind,
    kind: "threadmark",
    // Whole states are compared with the one before: a long history through them takes long for the one who watches.
    // On Postgres every step waits for the disk.
    wholeUpTo: way === "state" ? (kind === "Postgres" ? 100 : 1_000) : kind === "Postgres" ? 3_000 : 10_000,
    async open(home) {
      const store = await open<State>(urlOf(home, kind), { ...openOptions(home, kind), compression });
      return {
        thread: (id) => new StoreThread(store, id, way),
        ...medium(store as Store, home, kind, client),
        close: () => store.close(),
      };
    },
  };
}

class StoreThread implements Thread {
  readonly #thread: ReturnType<Store<State>["thread"]>;
  readonly #way: "state" | "update";
  readonly #ids: string[] = [];
  #step = 0;

  constructor(store: Store<State>, id: string, way: "state" | "update") {
    this.#thread = store.thread(id);
    this.#way = way;
  }

  async begin(state: State): Promise<void> {
    this.#ids.push((await this.#thread.put({ state })).id);
  }

  async step({ state, update, tasks }: Step): Promise<void> {
    this.#step += 1;
    const fields = { node: this.#step % 2 ? "act" : "plan", next: [this.#step % 2 ? "plan" : "act"] };
    if (tasks !== undefined) {
      const head = this.#ids.at(-1) as string;
      const save = ({ task, channel, value }: (typeof tasks)[number]): Promise<unknown> =>
        this.#thread.putWrites(head, { task, writes: [{ channel, value }] });
      await Promise.all(tasks.map(save));
    }
    const input = this.#way === "state" ? { state, ...fields } : { update: update as object, ...fields };
    this.#ids.push((await this.#thread.put(input)).id);
  }

  async latest(): Promise<State> {
    return (await this.#thread.latest())?.state as State;
  }

  async old(index: number): Promise<State> {
    return (await this.#thread.get(this.#ids[index] as string))?.state as State;
  }

  async history(limit: number | undefined, states: boolean): Promise<number> {
    let count = 0;
    for await (const _ of this.#thread.history({ ...(limit !== undefined && { limit }), states })) count += 1;
    return count;
  }

  async fork(): Promise<void> {
    await this.#thread.fork();
  }

  async prune(keepLast: number): Promise<void> {
    await this.#thread.prune({ keepLast });
  }

  remove(): Promise<void> {
    return this.#thread.delete();
  }
}
