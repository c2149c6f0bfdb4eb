import { open, type Store, type Thread } from "../../../src/index.ts";
import { type Compared, compare } from "../../harness/compare.ts";
import type { Context, Part } from "../../harness/context.ts";
import type { Cell } from "../../harness/report.ts";
import { RawTable } from "../../systems/raw-sqlite.ts";
import { stateToUpdate, type UpdateKind, updateKinds } from "../../workloads/update-kinds.ts";
import type { State } from "../../workloads/workload.ts";

/** A thread that is updated in one way, and its next update. */
class Updated {
  readonly #thread: Thread<State>;
  readonly #kind: UpdateKind;
  readonly #length: number;
  #index: number;
  update: object = {};
  changed = "";

  constructor(store: Store<State>, kind: UpdateKind, length: number, name: string) {
    this.#thread = store.thread(name);
    this.#kind = kind;
    this.#length = length;
    this.#index = length;
  }

  async begin(): Promise<this> {
    await this.#thread.put({ state: stateToUpdate(this.#length) });
    return this;
  }

  prepare(): void {
    this.update = this.#kind.update(this.#index, this.#length);
    this.changed = JSON.stringify(this.update);
    this.#index += 1;
  }

  put(): Promise<unknown> {
    return this.#thread.put({ update: this.update, node: "act", next: ["plan"] });
  }
}

async function kindAt(
  context: Context,
  store: Store<State>,
  table: RawTable,
  kind: UpdateKind,
  length: number,
): Promise<Compared> {
  const thread = await new Updated(store, kind, length, `${kind.name} ${length}`).begin();
  return compare(
    { rounds: context.quick ? 3 : 9, warmUp: 2, batch: 64, turns: 4 },
    () => thread.put(),
    () => table.insert(thread.changed),
    () => thread.prepare(),
  );
}

/** A long history against a short one, in turns; another short one every round. */
async function flatness(context: Context, store: Store<State>, kind: UpdateKind, length: number): Promise<number> {
  const rounds = context.quick ? 4 : 12;
  const batch = 64;
  const long = await new Updated(store, kind, length, `${kind.name} long`).begin();
  const shorts: Updated[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    shorts.push(await new Updated(store, kind, 100, `${kind.name} short ${round}`).begin());
  }
  let calls = 0;
  let short = shorts[0] as Updated;
  const found = await compare(
    { rounds, warmUp: 1, batch },
    () => long.put(),
    () => short.put(),
    (side) => {
      if (side === "ours") return long.prepare();
      short = shorts[Math.floor(calls / batch)] as Updated;
      calls += 1;
      short.prepare();
    },
  );
  return found.p50;
}

/** Every kind of update beside one raw insert of the same change, at the end of short and long histories. */
export const updates: Part = {
  name: "updates",
  title: "every kind of update on SQLite against one raw insert",
  async run(context) {
    const { place, report, quick } = context;
    const store = await open<State>(`sqlite:${place.path("updates")}`, { fsync: "normal" });
    const table = new RawTable(place.path("raw"));
    const lengths = quick ? [100, 1_000] : [100, 1_000, 10_000];
    const longest = lengths.at(-1) as number;
    for (const kind of updateKinds) await kindAt(context, store, table, kind, 50);
    const rows: Cell[][] = [];
    for (const kind of updateKinds) {
      const found: Compared[] = [];
      for (const length of lengths) found.push(await kindAt(context, store, table, kind, length));
      const flat = await flatness(context, store, kind, longest);
      const worst = Math.max(...found.map(({ p50 }) => p50));
      rows.push([kind.name, ...found.flatMap(({ ours, p50 }) => [ours.p50 * 1_000, p50]), flat]);
      report.target(`${kind.name}, against one raw insert, p50, the greatest of N = ${lengths.join(", ")}`, worst, 2.5);
      report.target(`${kind.name}, N = ${longest} against N = 100, p50`, flat, 1.3);
    }
    report.table(
      "A put of each kind of update on SQLite, fsync normal",
      [
        { title: "update" },
        ...lengths.flatMap((length) => [
          { title: `N = ${length} p50`, unit: "µs" as const },
          { title: "against a raw insert", unit: "×" as const },
        ]),
        { title: `N = ${longest} against 100`, unit: "×" as const },
      ],
      rows,
      "ratios: the median over rounds of each round's ratio",
    );
    await store.close();
    table.close();
  },
};
