import { ThreadmarkSaver } from "../../src/langgraph/index.ts";
import { originalSqliteSaver } from "../environment/langgraph-savers.ts";
import { compare } from "../harness/compare.ts";
import type { Context, Part } from "../harness/context.ts";
import type { Cell } from "../harness/report.ts";
import { DeltaThread } from "../systems/delta-thread.ts";
import { SaverThread } from "../systems/saver-thread.ts";
import { bytesOf, foldLog } from "../systems/sizes.ts";
import { editedFiles } from "../workloads/files.ts";
import { langchain } from "../workloads/langchain.ts";
import { overwrittenField } from "../workloads/overwritten.ts";
import { tiny } from "../workloads/tiny.ts";
import { toolResults } from "../workloads/tool-results.ts";
import type { State, Step, Workload } from "../workloads/workload.ts";

type Saver = ConstructorParameters<typeof SaverThread>[0];

/** A thread of a saver that goes on from a state, and its next step. */
class Side {
  readonly #thread: SaverThread;
  readonly #workload: Workload;
  #state: State;
  #steps = 0;
  #next: Step | undefined;

  constructor(thread: SaverThread, workload: Workload, state: State) {
    this.#thread = thread;
    this.#workload = workload;
    this.#state = state;
  }

  async begin(): Promise<this> {
    await this.#thread.begin(this.#state);
    return this;
  }

  prepare(): void {
    this.#steps += 1;
    this.#next = this.#workload.step(this.#state, this.#steps);
    this.#state = this.#next.state;
    this.#thread.prepare(this.#next);
  }

  step(): Promise<void> {
    return this.#thread.step(this.#next as Step);
  }
}

interface Savers {
  readonly ours: Saver;
  /** Takes messages to be unchanged once they were stored. */
  readonly trusting: Saver;
  readonly peer: Saver;
}

interface Race {
  readonly name: string;
  readonly against: string;
  readonly limit: number;
  ours(savers: Savers, id: string): Promise<Side>;
  peer(savers: Savers, id: string): Promise<Side>;
}

const from = (saver: Saver, id: string, workload: Workload): Promise<Side> =>
  new Side(new SaverThread(saver, id), workload, workload.initial()).begin();

/** The races; `begin` gives the length that a conversation of this length really begins with. */
function races(quick: boolean, begin: (length: number) => number = (length) => length): readonly Race[] {
  const delta = { against: "SqliteSaver + DeltaChannel" };
  const lengths = quick ? [1_000] : [100, 1_000, 10_000];
  const talk = (thread: SaverThread, length: number): Promise<Side> =>
    new Side(thread, langchain, langchain.of(begin(length))).begin();
  return [
    ...lengths.map(
      (length): Race => ({
        ...delta,
        name: `DeltaChannel, N = ${length}`,
        limit: 0.8,
        ours: ({ ours }, id) => talk(new DeltaThread(ours, id), length),
        peer: ({ peer }, id) => talk(new DeltaThread(peer, id), length),
      }),
    ),
    {
      ...delta,
      name: "plain channels, N = 1000",
      limit: 1,
      ours: ({ ours }, id) => talk(new SaverThread(ours, id), 1_000),
      peer: ({ peer }, id) => talk(new DeltaThread(peer, id), 1_000),
    },
    {
      ...delta,
      name: "plain channels, changesInPlace: false, N = 1000",
      limit: 1,
      ours: ({ trusting }, id) => talk(new SaverThread(trusting, id), 1_000),
      peer: ({ peer }, id) => talk(new DeltaThread(peer, id), 1_000),
    },
    ...[tiny, overwrittenField].map(
      (workload): Race => ({
        name: workload.title,
        against: "SqliteSaver",
        limit: 1,
        ours: ({ ours }, id) => from(ours, id, workload),
        peer: ({ peer }, id) => from(peer, id, workload),
      }),
    ),
  ];
}

/** Short threads that are not measured, and the steps of each: code that is new to the process takes five times as long. */
const warmThreads = 8;
const warmSteps = 320;

/** Takes the steps of all races, on both sides, until nothing of them is compiled any more. */
async function warmUp(savers: Savers): Promise<void> {
  for (let thread = 0; thread < warmThreads; thread += 1) {
    for (const race of races(true, () => 50)) {
      const id = `warm-up ${thread} ${race.name}`;
      for (const side of [await race.ours(savers, id), await race.peer(savers, `${id} peer`)]) {
        for (let step = 0; step < warmSteps; step += 1) {
          side.prepare();
          await side.step();
        }
      }
    }
  }
}

async function steps({ place, report, quick }: Context): Promise<void> {
  const original = await originalSqliteSaver(place.path("peer"), "normal");
  const own = await ThreadmarkSaver.open(`sqlite:${place.path("ours")}`, { fsync: "normal" });
  const trusting = await ThreadmarkSaver.open(`sqlite:${place.path("ours")}`, {
    fsync: "normal",
    changesInPlace: false,
  });
  const savers: Savers = { ours: own, trusting, peer: original.saver };
  const rows: Cell[][] = [];
  await warmUp(savers);
  for (const race of races(quick)) {
    const ours = await race.ours(savers, race.name);
    const peer = await race.peer(savers, `${race.name} peer`);
    const found = await compare(
      { rounds: quick ? 5 : 9, warmUp: 1, batch: 48 },
      () => ours.step(),
      () => peer.step(),
      (side) => (side === "ours" ? ours : peer).prepare(),
    );
    const winner = found.p50 > 1 ? race.against : "Threadmark";
    rows.push([race.name, race.against, found.ours.p50 * 1_000, found.other.p50 * 1_000, found.p50, winner]);
    report.target(`a step, ${race.name}, against ${race.against}, p50`, found.p50, race.limit);
  }
  await own.close();
  await trusting.close();
  await original.close();
  report.table(
    "A step through the LangGraph saver, SQLite, fsync normal, in turns",
    [
      { title: "ours" },
      { title: "against" },
      { title: "ours p50", unit: "µs" },
      { title: "other p50", unit: "µs" },
      { title: "ratio", unit: "×" },
      { title: "faster" },
    ],
    rows,
  );
}

/** Bytes on SQLite for each step, against the JSON of what changed. */
async function bytes({ place, report, quick }: Context): Promise<void> {
  const rows: Cell[][] = [];
  for (const [workload, limit, extra, Kind] of [
    [langchain, 1.4, 0, SaverThread],
    [langchain, 2.5, 0, DeltaThread],
    [toolResults, 1.1, 0, SaverThread],
    [editedFiles, 2, 300, SaverThread],
  ] as const) {
    const title = Kind === DeltaThread ? `${workload.title}, DeltaChannel` : workload.title;
    const path = place.path("bytes");
    const saver = await ThreadmarkSaver.open(`sqlite:${path}`, { fsync: "normal" });
    const thread = new Kind(saver, "t");
    let state = workload.initial();
    await thread.begin(state);
    // A step that was taken before would be the same edit again, or the same result, of which there is no second copy.
    let taken = 0;
    const take = async (count: number): Promise<number> => {
      let changed = 0;
      for (let index = 0; index < count; index += 1) {
        const step = workload.step(state, taken);
        taken += 1;
        state = step.state;
        changed += step.changed.length;
        await thread.step(step);
      }
      return changed;
    };
    await take(quick ? 70 : 140);
    await saver.store.compact();
    foldLog(path);
    const before = bytesOf(path) ?? 0;
    const count = quick ? 128 : 256;
    const changed = (await take(count)) / count;
    await saver.store.compact();
    foldLog(path);
    const each = ((bytesOf(path) ?? 0) - before) / count;
    await saver.close();
    rows.push([title, changed, each, each / changed]);
    report.target(`${title}: bytes a step, less ${extra}, against the change`, (each - extra) / changed, limit);
  }
  report.table(
    "Bytes a step through the LangGraph saver: putWrites + put, SQLite",
    [
      { title: "workload" },
      { title: "the change", unit: "bytes" },
      { title: "on disk", unit: "bytes" },
      { title: "ratio", unit: "×" },
    ],
    rows,
  );
}

/** The saver beside the fastest way that LangGraph's own saver offers, and where that one wins. */
export const langgraphDelta: Part = {
  name: "langgraph-delta",
  title: "ThreadmarkSaver beside SqliteSaver with DeltaChannel, and bytes a step",
  run: async (context) => {
    await steps(context);
    await bytes(context);
  },
};
