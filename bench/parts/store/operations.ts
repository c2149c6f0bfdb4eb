import { runChild } from "../../environment/child.ts";
import type { Context, Part } from "../../harness/context.ts";
import type { Cell } from "../../harness/report.ts";
import { Timings } from "../../harness/timing.ts";
import { checkState } from "../../systems/check-state.ts";
import { systemsOn } from "../../systems/index.ts";
import { History } from "../../systems/measured-thread.ts";
import type { System } from "../../systems/system.ts";
import { conversation, conversationOf } from "../../workloads/conversation.ts";

/** Limit in milliseconds: an operation whose tenth or hundredth part predicts more is not run. */
const patience = 2_000;

type Measured = number | string | null;

/** The median of some calls; slow ones are not repeated for long. */
async function time(action: (() => unknown) | undefined, times = 7): Promise<Measured> {
  if (!action) return null;
  const timings = new Timings();
  const end = performance.now() + patience / 6;
  for (let count = 0; count < times && (count === 0 || performance.now() < end); count += 1)
    await timings.measure(action);
  return timings.p50;
}

/** The same, unless it would take too long. */
function timeUnless(expected: Measured, action: () => unknown): Promise<Measured> | string {
  if (typeof expected === "number" && expected > patience) return `≈ ${Math.round(expected / 1_000)} s, not run`;
  return time(action, 1);
}

async function measure({ place, quick }: Context, system: System, steps: number): Promise<Cell[]> {
  const home = await place.home(system.home);
  const opened = await system.open(home);
  const history = new History(opened, conversation);
  // DeltaChannel reads as slowly as its history is long, so there it has to be whole.
  const whole = steps <= system.wholeUpTo || system.conversationOnly === true;
  const end = Math.min(20, steps);
  await history.begin(whole ? undefined : conversationOf(steps - end));
  await history.advance(whole ? steps : end);
  const { thread } = history;
  const read = (): Promise<void> =>
    Promise.resolve(thread.latest?.()).then((state) => {
      if (state) checkState(state, history.state, system.name);
    });
  await read();
  const latest = await time(thread.latest && (() => thread.latest?.()));
  const inNewProcess =
    system.home === "memory" || system.home === "none" || !thread.latest
      ? null
      : await freshLatest(system, home, steps);
  let seed = 7;
  const random = (): number => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    return seed % (history.steps + 1);
  };
  const old = await time(thread.old && (() => thread.old?.(random())), 15);
  const ten = await time(thread.history && (() => thread.history?.(10, false)));
  const tenStates = await time(thread.history && (() => thread.history?.(10, true)));
  const count = history.steps / 10;
  const all = thread.history ? await timeUnless(scaled(ten, count), () => thread.history?.(undefined, false)) : null;
  const allStates = thread.history
    ? await timeUnless(scaled(tenStates, count), () => thread.history?.(undefined, true))
    : null;
  const fork = await time(thread.fork && (() => thread.fork?.()));
  const verify = await time(opened.verify && (() => opened.verify?.()), quick ? 1 : 3);
  const prune = whole ? await time(thread.prune && (() => thread.prune?.(Math.round(steps / 10))), 1) : null;
  const remove = await time(thread.remove && (() => thread.remove?.()), 1);
  await opened.close();
  await place.clear(home);
  return [system.name, latest, inNewProcess, old, ten, tenStates, all, allStates, fork, prune, remove, verify];
}

function scaled(time: Measured, factor: number): Measured {
  return typeof time === "number" ? time * factor : time;
}

async function freshLatest(system: System, home: unknown, steps: number): Promise<number> {
  const input = { system: system.name, home };
  const { milliseconds, messages } = await runChild<{ milliseconds: number; messages: number }>("latest.ts", input);
  if (messages !== steps) throw new Error(`${system.name} read ${messages} messages in a new process, not ${steps}.`);
  return milliseconds;
}

/** Everything but the step itself, at one length of the conversation, on every system. */
export const operations: Part = {
  name: "operations",
  title: "reading, forking, pruning, deleting, verifying",
  async run(context) {
    const { report, place, quick } = context;
    const steps = quick ? 300 : 1_000;
    const rows: Cell[][] = [];
    for (const system of systemsOn(place)) {
      // Whichever way a state came, it is read alike.
      if (system.kind === "threadmark" && system.name.includes("put({ state })")) continue;
      if (system.kind === "floor" && system.name.includes("change")) continue;
      if (quick && (system.home === "Postgres" || system.langchain)) continue;
      if (!system.conversationOnly) rows.push(await measure(context, system, steps));
      // At 1,000 a fresh snapshot hides what DeltaChannel's reads cost.
      else
        for (const length of system.home === "SQLite" ? [steps, 900] : [900]) {
          const [name, ...cells] = await measure(context, system, length);
          rows.push([`${name}, N = ${length}`, ...cells]);
        }
    }
    report.table(
      `A conversation of ${steps} messages`,
      [
        { title: "system" },
        ...[
          "latest",
          "latest, new process",
          "random old",
          "history of 10",
          "10 with states",
          "all",
          "all with states",
          "fork",
          "prune 90 %",
          "delete",
          "verify",
        ].map((title) => ({ title, unit: "ms" }) as const),
      ],
      rows,
      "a LangGraph saver's history (list) always has states; a dash: there is no such operation, or no whole history to do it on",
      "new process: opening and reading, without loading the program",
    );
  },
};
