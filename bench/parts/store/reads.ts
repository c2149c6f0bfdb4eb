import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { open, type Store } from "../../../src/index.ts";
import { type Compared, compare } from "../../harness/compare.ts";
import type { Context, Part } from "../../harness/context.ts";
import type { Cell } from "../../harness/report.ts";
import { checkState } from "../../systems/check-state.ts";
import { RawPostgres } from "../../systems/raw-postgres.ts";
import { RawTable } from "../../systems/raw-sqlite.ts";
import { StoredTalk } from "../../workloads/prepared-conversation.ts";
import type { State } from "../../workloads/workload.ts";

const steps = 1_000;
type Rows = Cell[][];

function note(rows: Rows, ours: string, other: string, found: Compared): void {
  rows.push([ours, other, found.ours.p50, found.other.p50, found.p50]);
}

/** A store that another has filled and closed. */
async function filled(url: string, options: object): Promise<{ store: Store<State>; talk: StoredTalk; ids: string[] }> {
  const writer = await open<State>(url, { ...options });
  const written = await StoredTalk.begin(writer, "measured", steps);
  await writer.close();
  const store = await open<State>(url, { ...options });
  const talk = written.on(store);
  await talk.check();
  const ids: string[] = [];
  for await (const { id } of talk.thread.history()) ids.push(id);
  return { store, talk, ids };
}

async function onSqlite(context: Context, rows: Rows): Promise<void> {
  const { place, report, quick } = context;
  const [path, rawPath] = [place.path("reads"), place.path("raw")];
  const { store, talk, ids } = await filled(`sqlite:${path}`, { fsync: "normal" });
  const { thread, state } = talk;
  const table = new RawTable(rawPath);
  const key = table.insert(JSON.stringify(state));
  const rounds = quick ? 5 : 15;
  const latest = (): Promise<unknown> => thread.latest();

  const opened = await compare({ rounds, batch: 4 }, latest, () => JSON.parse(table.select(key)));
  note(rows, "SQLite: latest(), open store", "select + JSON.parse, open", opened);
  report.target("SQLite: latest() against select + JSON.parse, both open", opened.p50, 1.2);

  const read = (): unknown => {
    const other = new RawTable(rawPath);
    const found = JSON.parse(other.select(key)) as unknown;
    other.close();
    return found;
  };
  // Compiled, as everything that is compared: what a new process takes is another table.
  const pace = { rounds, warmUp: quick ? 1 : 300, batch: 2 };
  const fresh = await compare(pace, () => readAnew(path), read);
  note(rows, "SQLite: open, latest(), close", "open, select + JSON.parse, close", fresh);
  report.target("SQLite: latest() against select + JSON.parse, both newly opened", fresh.p50, 1.2);

  await older(context, rows, path, ids);
  await histories(context, rows, path, talk);
  await store.close();
  table.close();
}

async function readAnew(path: string): Promise<unknown> {
  const store = await open<State>(`sqlite:${path}`);
  const found = await store.thread("measured").latest();
  await store.close();
  return found;
}

/** A store that has read nothing yet, opened anew before each call and outside of what is timed. */
class Unread {
  readonly #path: string;
  #store: Store<State> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async renew(): Promise<void> {
    await this.close();
    this.#store = await open<State>(`sqlite:${this.#path}`);
    // The file is open and the thread known; no state has been read.
    await this.thread.count();
  }

  get thread(): StoredTalk["thread"] {
    return (this.#store as Store<State>).thread("measured");
  }

  async close(): Promise<void> {
    await this.#store?.close();
  }
}

/** An old checkpoint against the latest, neither of them in memory; and on a store that has the latest in memory. */
async function older({ report, quick }: Context, rows: Rows, path: string, ids: readonly string[]): Promise<void> {
  const unread = new Unread(path);
  let at = 0;
  const id = (): string => {
    at = (at + 379) % ids.length;
    return ids[at] as string;
  };
  const rounds = quick ? 5 : 15;
  const cold = await compare(
    // The way to an old one is compiled as that to the latest has been by now.
    { rounds, warmUp: quick ? 1 : 60, batch: 8 },
    () => unread.thread.get(id()),
    () => unread.thread.latest(),
    () => unread.renew(),
  );
  note(rows, "SQLite: a random old checkpoint, not in memory", "latest(), not in memory", cold);
  report.target("SQLite: a random old checkpoint against latest(), neither in memory", cold.p50, 1);
  const { thread } = unread;
  const warm = await compare(
    { rounds, batch: 8 },
    () => thread.get(id()),
    () => thread.latest(),
  );
  note(rows, "SQLite: a random old checkpoint", "latest(), in memory", warm);
  await unread.close();
}

async function histories({ place, report, quick }: Context, rows: Rows, path: string, talk: StoredTalk): Promise<void> {
  const rounds = quick ? 5 : 15;
  const changes = new RawTable(place.path("raw-changes"));
  for (let index = 0; index < steps; index += 1) {
    talk.prepare();
    changes.insert(talk.ready.changed);
  }
  const newest = changes.newest();
  const list = async (thread: StoredTalk["thread"], states: boolean): Promise<void> => {
    let count = 0;
    for await (const _ of thread.history({ limit: 10, states })) count += 1;
    if (count !== 10) throw new Error(`Ten checkpoints were asked for, ${count} came.`);
  };
  const plain = await compare(
    { rounds, batch: 32 },
    () => list(talk.thread, false),
    () => newest.all(),
  );
  note(rows, "SQLite: history of 10", "ten raw rows", plain);
  report.target("SQLite: history(10) without states against selecting ten raw rows", plain.p50, 3);
  changes.close();

  const unread = new Unread(path);
  const cold = await compare(
    { rounds, warmUp: quick ? 1 : 100, batch: 4 },
    () => list(unread.thread, true),
    () => unread.thread.latest(),
    () => unread.renew(),
  );
  await unread.close();
  note(rows, "SQLite: history of 10 with states, not in memory", "latest(), not in memory", cold);
  report.target("SQLite: history(10) with states, N = 1,000, against latest(), neither in memory", cold.p50, 2);
  const warm = await compare(
    { rounds, batch: 2 },
    () => list(talk.thread, true),
    () => talk.thread.latest(),
  );
  note(rows, "SQLite: history of 10 with states", "latest(), in memory", warm);
}

async function onFiles({ place, report, quick }: Context, rows: Rows): Promise<void> {
  const { store, talk } = await filled(`file:${place.path("reads")}`, { fsync: "normal" });
  const plain = place.path("state.json");
  writeFileSync(plain, JSON.stringify(talk.state));
  const found = await compare(
    { rounds: quick ? 5 : 15, batch: 4 },
    () => talk.thread.latest(),
    async () => JSON.parse(await readFile(plain, "utf8")) as unknown,
  );
  note(rows, "file: latest()", "read + JSON.parse of a file", found);
  report.target("file: latest() against read + JSON.parse", found.p50, 1.5);
  await store.close();
}

async function onPostgres({ place, report, quick }: Context, rows: Rows): Promise<void> {
  const home = await place.home("Postgres");
  const { store, talk, ids } = await filled(home.url, { schema: home.schema, connections: 4 });
  const raw = await RawPostgres.create(home.url, `${home.schema}_raw`, 4);
  const text = JSON.stringify(talk.state);
  const key = await raw.insert(text);
  checkState(JSON.parse(await raw.select(key)) as State, talk.state, "the raw row");
  const rounds = quick ? 5 : 15;
  const latest = (): Promise<unknown> => talk.thread.latest();
  const row = await compare({ rounds, batch: 4 }, latest, async () => JSON.parse(await raw.select(key)) as unknown);
  note(rows, "Postgres: latest()", "select + JSON.parse", row);
  report.target("Postgres: latest() against select + JSON.parse, both open", row.p50, 1.5);
  const parse = await compare({ rounds, batch: 4 }, latest, () => JSON.parse(text) as unknown);
  note(rows, "Postgres: latest()", "JSON.parse alone", parse);
  report.target("Postgres: latest() of 1,000 messages against JSON.parse alone", parse.p50, 4);
  let at = 0;
  const old = (): Promise<unknown> => {
    at = (at + 379) % ids.length;
    return talk.thread.get(ids[at] as string);
  };
  note(rows, "Postgres: a random old checkpoint", "latest()", await compare({ rounds, batch: 4 }, old, latest));
  await raw.close();
  await store.close();
}

/** Reads beside the least that anybody has to do for them with the same driver. */
export const reads: Part = {
  name: "reads",
  title: "latest, old checkpoints and history of 1,000 steps against raw reads",
  async run(context) {
    const rows: Rows = [];
    await onSqlite(context, rows);
    await onFiles(context, rows);
    await onPostgres(context, rows);
    context.report.comparison("Reads at N = 1,000, both sides in turns in one process", "ms", rows);
  },
};
