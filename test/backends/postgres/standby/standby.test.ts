import { afterAll, beforeAll, expect, test } from "vitest";
import { open, type Store } from "../../../../src/index.ts";
import { collect } from "../../../support/collect.ts";
import { Proxy } from "../../../support/postgres/proxy.ts";
import { PostgresServer } from "../../../support/postgres/server.ts";

interface State {
  n: number;
}

let primary: PostgresServer;
let standby: PostgresServer;
let address: Proxy;

beforeAll(async () => {
  ({ primary, standby } = await PostgresServer.startPair());
  address = await Proxy.before(primary.url());
});
afterAll(async () => {
  await address.close();
  await Promise.all([primary, standby].map((server) => server.stop()));
});

test("a hot standby is read and watched, refuses changes, and says how far behind it is", async () => {
  const writer = await open<State>(primary.url(), { schema: "reading" });
  await writer.thread("t").put({ state: { n: 1 }, attributes: { tenant: "acme" } });
  const reader = await open<State>(standby.url(), { schema: "reading", readOnly: true });
  const thread = reader.thread("t");
  await until(async () => (await thread.latest())?.state.n === 1);
  expect(await collect(reader.threads({ where: { tenant: "acme" } }))).toMatchObject([{ id: "t", status: "done" }]);
  expect(await collect(thread.history())).toHaveLength(1);
  expect((await reader.verify()).faults).toEqual([]);
  await expect(thread.put({ state: { n: 2 } })).rejects.toMatchObject({ code: "READ_ONLY" });

  const changes = reader.watch();
  await changes.cursor();
  await writer.thread("t").put({ state: { n: 2 } });
  const { value: change } = await changes.next();
  expect(change).toMatchObject({ kind: "put", thread: "t", seq: 2 });
  await changes.return?.();

  await until(async () => (await reader.stats()).behind === 0);
  expect((await writer.stats()).behind).toBeUndefined();
  await reader.close();
  await writer.close();
});

test("a standby that takes over under load loses nothing acknowledged, and no caller sees an error", async () => {
  const store = await open<State>(address.url, { schema: "moving", patience: 120_000 });
  const load = new Writers(store, 8);
  await load.progress(200);
  primary.kill();
  await standby.promote();
  address.moveTo(standby.url());
  await load.progress(200);
  const acknowledged = await load.stop();

  const fresh = await open<State>(standby.url(), { schema: "moving" });
  for (const [id, count] of acknowledged) {
    const states = (await collect(fresh.thread(id).history({ states: true }))).map(({ state }) => state.n);
    expect(states).toEqual(Array.from({ length: count }, (_, index) => count - index));
  }
  expect((await fresh.verify()).faults).toEqual([]);
  await fresh.close();
  await store.close();
});

/** Threads that get one checkpoint after the other. A rejected put ends the test. */
class Writers {
  readonly #acknowledged = new Map<string, number>();
  readonly #running: Promise<unknown>;
  #stopped = false;
  #puts = 0;

  constructor(store: Store<State>, threads: number) {
    const ids = Array.from({ length: threads }, (_, index) => `thread-${index}`);
    this.#running = Promise.all(ids.map((id) => this.#write(store, id)));
    this.#running.catch(() => {});
  }

  async #write(store: Store<State>, id: string): Promise<void> {
    for (let n = 1; !this.#stopped; n++) {
      await store.thread(id).put({ state: { n } });
      this.#acknowledged.set(id, n);
      this.#puts += 1;
    }
  }

  /** Waits for so many more puts, or for a rejected one. */
  async progress(puts: number): Promise<void> {
    const goal = this.#puts + puts;
    await Promise.race([this.#running, until(async () => this.#puts >= goal)]);
  }

  async stop(): Promise<ReadonlyMap<string, number>> {
    this.#stopped = true;
    await this.#running;
    return this.#acknowledged;
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; !(await holds()); attempt++) {
    if (attempt === 2_000) throw new Error("it never came to hold");
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
