import { open, type Store } from "../../src/index.ts";
import type { Context, Part } from "../harness/context.ts";
import { layers, type Profile, profiled } from "../harness/profiler.ts";
import type { Cell } from "../harness/report.ts";
import { History } from "../systems/measured-thread.ts";
import { threadmarkSaver } from "../systems/savers.ts";
import { warmSteps } from "../systems/warm-steps.ts";
import { langchain } from "../workloads/langchain.ts";
import { StoredTalk, warmStates, warmUpdates } from "../workloads/prepared-conversation.ts";
import type { State, Step } from "../workloads/workload.ts";

type Add = (what: string, profile: Profile) => void;

async function puts(store: Store<State>, what: string, times: number, add: Add): Promise<void> {
  const talk = await StoredTalk.begin(store, `puts ${what}`, 1_000);
  add(
    `put({ update }), ${what}`,
    await profiled(
      times,
      () => talk.putUpdate(),
      () => talk.prepare(),
    ),
  );
}

async function onSqlite({ place, quick }: Context, add: Add): Promise<void> {
  const times = quick ? 300 : 4_000;
  for (const fsync of ["normal", "full"] as const) {
    const store = await open<State>(`sqlite:${place.path(`profile-${fsync}`)}`, { fsync });
    if (fsync === "normal") await warmUpdates(store);
    await puts(store, `SQLite, fsync ${fsync}`, fsync === "full" ? times / 8 : times, add);
    await store.close();
  }
  const path = place.path("profile-states");
  const store = await open<State>(`sqlite:${path}`, { fsync: "normal" });
  await warmStates(store);
  const talk = await StoredTalk.begin(store, "states", 3_000);
  add(
    "put({ state }), N = 3,000, SQLite",
    await profiled(
      times / 20,
      () => talk.putState(),
      () => talk.prepare(),
    ),
  );
  await StoredTalk.begin(store, "read", 1_000);
  await store.close();
  const read = async (): Promise<void> => {
    const other = await open<State>(`sqlite:${path}`);
    await other.thread("read").latest();
    await other.close();
  };
  for (let count = 0; count < 60; count += 1) await read();
  add("open, latest(), close, N = 1,000, SQLite", await profiled(times / 20, read));
}

async function onPostgres({ place, quick }: Context, add: Add): Promise<void> {
  const { url, schema } = await place.home("Postgres");
  const store = await open<State>(url, { schema, connections: 4 });
  await puts(store, "Postgres", quick ? 100 : 500, add);
  const talks: StoredTalk[] = [];
  for (let index = 0; index < 64; index += 1) talks.push(await StoredTalk.begin(store, `t${index}`, 1));
  const wave = (): Promise<unknown> => Promise.all(talks.map((talk) => talk.putUpdate()));
  const prepare = (): void => {
    for (const talk of talks) talk.prepare();
  };
  for (let count = 0; count < 100; count += 1) {
    prepare();
    await wave();
  }
  add("64 threads at once, Postgres", await profiled(quick ? 20 : 150, wave, prepare));
  await store.close();
}

async function steps(context: Context, kind: "SQLite" | "Postgres", fsync: "normal" | "full", add: Add): Promise<void> {
  const { place, quick } = context;
  const system = threadmarkSaver(kind, place.client.bind(place));
  const opened = await system.open(await place.home(kind, fsync));
  await warmSteps(opened, quick ? 2 : 10);
  const history = new History(opened, langchain, "profiled");
  await history.begin(langchain.of(1_000));
  let next: Step | undefined;
  const prepare = (): void => {
    next = history.next();
    history.thread.prepare?.(next);
  };
  const found = await profiled(quick ? 40 : 200, async () => history.thread.step(next as Step), prepare);
  add(`LangGraph step, ${kind}${kind === "SQLite" ? `, fsync ${fsync}` : ""}`, found);
  await opened.close();
}

/** Where the time goes of all that is held against a target: why one is not met. */
export const profile: Part = {
  name: "profile",
  title: "where the time goes, by the sampling profiler",
  async run(context) {
    const rows: Cell[][] = [];
    const add: Add = (what, { call, layers: spent }) => {
      rows.push([what, call, ...layers.map((layer) => spent[layer])]);
    };
    await onSqlite(context, add);
    await steps(context, "SQLite", "normal", add);
    if (!context.quick) {
      await steps(context, "SQLite", "full", add);
      await onPostgres(context, add);
      await steps(context, "Postgres", "full", add);
    }
    const columns = [{ title: "what" }, ...["a call", ...layers].map((title) => ({ title, unit: "µs" as const }))];
    context.report.table(
      "Where the time of a call goes, by the sampling profiler",
      columns,
      rows,
      "a call: by the clock, the profiler's own work included; the others are where the samples were",
      "waiting: for the disk, if another thread syncs it, and for the server; SQLite: all that is called of it, its syncs included; " +
        "backend, engine, codec, saver, interface: the folders of src/, and what Node does for them; memory: the garbage collector; " +
        "Node: promises and events, and what cannot be told",
    );
  },
};
