import type { Context, Part } from "../../harness/context.ts";
import type { Cell } from "../../harness/report.ts";
import { checkState } from "../../systems/check-state.ts";
import { systemsOn } from "../../systems/index.ts";
import { History, warm } from "../../systems/measured-thread.ts";
import type { System } from "../../systems/system.ts";
import { threadmark } from "../../systems/threadmark.ts";
import { conversation, conversationOf } from "../../workloads/conversation.ts";

/** A step that takes longer than this at one N is not waited for at the next. */
const patience = 60;
/** How long the steps at the end of a history may take, and how many there have to be anyway. */
const limit = { milliseconds: 600, least: 12 };

interface Grown {
  readonly system: string;
  readonly steps: number;
  /** Whether every step of the history was written, or it began with a long state. */
  readonly whole: boolean;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly total: number | null;
  /** A step. */
  readonly bytes: number | null;
  readonly written: number | null;
  /** Bytes against the JSON of what changed. */
  readonly ratio: number | null;
}

async function grow({ place }: Context, system: System, steps: number): Promise<Grown> {
  const home = await place.home(system.home);
  const opened = await system.open(home);
  const history = new History(opened, conversation);
  const whole = steps <= system.wholeUpTo;
  const measured = Math.min(steps, 500);
  await history.begin(whole ? undefined : conversationOf(steps - measured));
  // An empty store and the first checkpoint are no step.
  const base = (await opened.bytes()) ?? 0;
  const writtenBefore = await opened.written();
  const before = whole ? await history.advance(steps - measured) : undefined;
  const end = await history.advance(measured, whole ? undefined : limit.milliseconds, limit.least);
  const writtenAfter = await opened.written();
  if (history.thread.latest) checkState(await history.thread.latest(), history.state, system.name);
  const bytes = await opened.bytes();
  await opened.close();
  await place.clear(home);
  const each = (sum: number | undefined): number | null => (sum === undefined ? null : sum / history.steps);
  return {
    system: system.name,
    steps,
    whole,
    p50: end.p50,
    p99: end.p99,
    total: whole ? (before?.total ?? 0) + end.total : null,
    bytes: each(bytes === undefined ? undefined : bytes - base),
    written: each(writtenBefore === undefined ? undefined : (writtenAfter as number) - writtenBefore),
    ratio: bytes === undefined ? null : (bytes - base) / history.changed,
  };
}

/** Measures a step at the end of a conversation, and the bytes it leaves on the medium, for every system. */
export const growth: Part = {
  name: "growth",
  title: "a conversation that grows: time and bytes of a step against N",
  async run(context) {
    const { report, quick, place } = context;
    const client = place.client.bind(place);
    const sizes = quick ? [100, 1_000] : [100, 900, 1_000, 3_000, 10_000];
    const compressed = [
      threadmark("SQLite", "update", client, "deflate"),
      threadmark("SQLite", "update", client, "zstd"),
    ];
    const all = systemsOn(place).filter(({ name }) => !quick || /SQLite, put|Sqlite.*Delta|change, SQLite/.test(name));
    const found: Grown[] = [];
    const rows: Cell[][] = [];
    for (const system of [...all, ...compressed]) {
      const home = await place.home(system.home);
      await warm(system, conversation, home, quick ? 150 : 500);
      await place.clear(home);
      let tooSlow: number | undefined;
      for (const steps of sizes) {
        // At 1,000 a fresh snapshot hides what DeltaChannel's reads cost; the others have no such step.
        if (steps === 900 && !(system.conversationOnly && system.home === "SQLite")) continue;
        if (tooSlow !== undefined) {
          rows.push([
            system.name,
            steps,
            `not run: a step took ${Math.round(tooSlow)} ms`,
            null,
            null,
            null,
            null,
            null,
          ]);
          continue;
        }
        const grown = await grow(context, system, steps);
        found.push(grown);
        if (grown.p50 > patience) tooSlow = grown.p50;
        const how = grown.whole ? "all of it" : "begun long";
        const { p50, p99, total, bytes, written } = grown;
        rows.push([system.name, steps, how, p50 * 1_000, p99 * 1_000, total, bytes, written]);
        report.points.push({ system: system.name, steps, time: p50 * 1_000, bytes });
      }
    }
    report.table(
      "A conversation of N messages of 500 bytes, SQLite and files without a sync at every commit",
      [
        { title: "system" },
        { title: "N", unit: "count" },
        { title: "history" },
        { title: "step p50", unit: "µs" },
        { title: "step p99", unit: "µs" },
        { title: "total", unit: "ms" },
        { title: "bytes a step", unit: "bytes" },
        { title: "written a step", unit: "bytes" },
      ],
      rows,
      "p50 and p99 of the steps at the end of N; a LangGraph step is putWrites + put",
      '"begun long": the first checkpoint holds nearly N messages, and only the steps at the end are written',
      "bytes: what the steps added to the medium, after vacuum; written: handed to the system, or to the server's log",
      "SqliteSaver runs on node:sqlite, the driver of all SQLite rows",
    );
    bytesTargets(context, found, sizes);
  },
};

function bytesTargets({ report, quick }: Context, found: readonly Grown[], sizes: readonly number[]): void {
  const at = (system: string, steps: number): Grown => {
    const grown = found.find((one) => one.system === system && one.steps === steps);
    if (!grown) throw new Error(`${system} was not measured at N = ${steps}.`);
    return grown;
  };
  const ours = "Threadmark, SQLite, put({ update })";
  const long = sizes.filter((steps) => steps >= 1_000);
  for (const steps of long)
    report.target(`bytes against the JSON of the change, N = ${steps}`, at(ours, steps).ratio ?? Number.NaN, 1.2);
  const [first = 0, last = 0] = [long[0], long.at(-1)];
  if (last > first)
    report.target(
      `bytes a step, N = ${last} against N = ${first}`,
      (at(ours, last).bytes ?? Number.NaN) / (at(ours, first).bytes ?? Number.NaN),
      1.05,
    );
  for (const name of ["deflate", "zstd"])
    report.target(
      `bytes against the JSON of the change, ${name}, N = ${last}`,
      at(`${ours}, ${name}`, last).ratio ?? Number.NaN,
      1,
    );
  const against = (peer: string, own: string, steps: number): number =>
    (at(peer, steps).bytes ?? Number.NaN) / (at(own, steps).bytes ?? Number.NaN);
  const delta = "LangGraph SqliteSaver + DeltaChannel";
  report.target("SqliteSaver + DeltaChannel's bytes against ours, N = 1,000", against(delta, ours, 1_000), 2, {
    least: true,
  });
  if (quick) return;
  report.target("SqliteSaver's bytes against ours, N = 1,000", against("LangGraph SqliteSaver", ours, 1_000), 240, {
    least: true,
  });
  report.target(
    "SqliteSaver + DeltaChannel's bytes at N = 900 against ours at N = 1,000",
    (at(delta, 900).bytes ?? Number.NaN) / (at(ours, 1_000).bytes ?? Number.NaN),
    2,
    { least: true },
  );
  const postgres = "Threadmark, Postgres, put({ update })";
  report.target("bytes a step on Postgres against SQLite, N = 1,000", against(postgres, ours, 1_000), 1.5);
  report.target("bytes a step on Postgres against SQLite, N = 3,000", against(postgres, ours, 3_000), 1.5);
}
