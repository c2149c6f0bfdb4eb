import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import type { ExclusiveOptions } from "../../../src/langgraph/index.ts";
import { locations, type Place, redisUnderTest } from "../../support/places.ts";
import { listAll, newThread, onEveryBackend, thread } from "../support/saver.ts";

const program = fileURLToPath(new URL("../support/runner.ts", import.meta.url));

type Answer = Readonly<Record<string, unknown>>;

/** A process that runs a graph on threads of a shared store. */
class Runner {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  static async start(place: Place, name: string, exclusive: boolean | ExclusiveOptions): Promise<Runner> {
    const parameters = [String(place.url), JSON.stringify(place.options ?? {}), JSON.stringify(exclusive), name];
    const child = spawn(process.execPath, [program, ...parameters]);
    child.stderr.pipe(process.stderr);
    const runner = new Runner(child);
    await runner.next();
    return runner;
  }

  tell(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  async next(): Promise<Answer> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error("the process ended before it answered");
    return JSON.parse(value) as Answer;
  }

  /** The answer to a run, and how often its node began before. */
  async end(): Promise<{ readonly begun: number; readonly answer: Answer }> {
    for (let begun = 0; ; begun++) {
      const answer = await this.next();
      if (!("began" in answer)) return { begun, answer };
    }
  }

  sleep(): void {
    this.#child.kill("SIGSTOP");
  }

  wake(): void {
    this.#child.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const closed = new Promise((resolve) => this.#child.on("close", resolve));
    this.#child.kill("SIGKILL");
    await closed;
  }
}

const runners: Runner[] = [];
async function start(place: Place, name: string, exclusive: boolean | ExclusiveOptions): Promise<Runner> {
  const runner = await Runner.start(place, name, exclusive);
  runners.push(runner);
  return runner;
}
afterEach(async () => {
  for (const runner of runners.splice(0)) await runner.kill();
});

const shared = [...locations, redisUnderTest].filter((backend) => backend.capabilities.processes);

onEveryBackend(
  "two processes and one thread",
  (savers) => {
    it("with exclusive, a second run is refused with BUSY before its node ran, and may run when the first has ended", async () => {
      const saver = await savers.fresh();
      const id = newThread();
      const first = await start(savers.place(), "first", true);
      const second = await start(savers.place(), "second", true);
      first.tell("hold");
      first.tell(`run ${id}`);
      expect(await first.next()).toEqual({ began: 1 });
      const before = (await listAll(saver, thread(id))).length;
      second.tell(`run ${id}`);
      const refused = await second.end();
      expect(refused).toMatchObject({ begun: 0, answer: { failed: "BUSY", message: expect.stringContaining(id) } });
      expect(await listAll(saver, thread(id))).toHaveLength(before);
      // Another thread is nobody else's business.
      second.tell(`run ${newThread()}`);
      expect(await second.end()).toMatchObject({ begun: 1, answer: { ended: ["second begins", "second after 1"] } });
      first.tell("go");
      expect((await first.end()).answer).toEqual({ ended: ["first begins", "first after 1"] });
      second.tell(`run ${id}`);
      const log = ["first begins", "first after 1", "second begins", "second after 3"];
      expect(await second.end()).toEqual({ begun: 1, answer: { ended: log } });
    });

    it("with exclusive, the lease of a killed process runs out", async () => {
      const saver = await savers.fresh();
      const id = newThread();
      const options = { ttl: 1_500, wait: 0 };
      const first = await start(savers.place(), "first", { ...options, holder: "the first one" });
      const second = await start(savers.place(), "second", options);
      first.tell("hold");
      first.tell(`run ${id}`);
      await first.next();
      await first.kill();
      for (;;) {
        second.tell(`run ${id}`);
        const { begun, answer } = await second.end();
        if (answer["failed"] === undefined) {
          expect([begun, answer["ended"]]).toEqual([1, ["first begins", "second begins", "second after 2"]]);
          break;
        }
        expect([begun, answer]).toMatchObject([
          0,
          { failed: "BUSY", message: expect.stringContaining("the first one") },
        ]);
        await sleep(100);
      }
      expect((await listAll(saver, thread(id))).length).toBeGreaterThan(3);
    });

    it("with exclusive, a holder that slept past its lease is refused with FENCED, and commits nothing more", async () => {
      const saver = await savers.fresh();
      const id = newThread();
      const options = { ttl: 1_000, wait: 10_000 };
      const first = await start(savers.place(), "first", options);
      const second = await start(savers.place(), "second", options);
      first.tell("hold");
      first.tell(`run ${id}`);
      await first.next();
      first.sleep();
      second.tell("hold");
      second.tell(`run ${id}`);
      await second.next();
      first.wake();
      first.tell("go");
      expect((await first.end()).answer).toMatchObject({ failed: expect.stringMatching(/^(FENCED|BUSY)$/) });
      second.tell("go");
      const { answer } = await second.end();
      expect(answer).toEqual({ ended: ["first begins", "second begins", "second after 2"] });
      const [head] = await listAll(saver, thread(id), { limit: 1 });
      expect(head?.checkpoint.channel_values["log"]).toEqual(answer["ended"]);
    });

    it("without exclusive, both histories are complete, and every checkpoint reads back its own values", async () => {
      const saver = await savers.fresh();
      const id = newThread();
      const names = ["left", "right"] as const;
      const both = await Promise.all(names.map((name) => start(savers.place(), name, false)));
      const steps = 25;
      for (const runner of both) runner.tell(`run ${id} ${steps}`);
      const ends = await Promise.all(both.map((runner) => runner.end()));
      const tuples = await listAll(saver, thread(id));
      const byId = new Map(tuples.map((tuple) => [tuple.checkpoint.id, tuple]));
      for (const [index, name] of names.entries()) {
        const { begun, answer } = ends[index] as Awaited<ReturnType<Runner["end"]>>;
        expect(begun).toBe(steps);
        const log = answer["ended"] as string[];
        // The run's result is the end of a chain of its own checkpoints; each holds the log up to its step.
        const own = tuples.filter((tuple) => (tuple.metadata as { by?: string } | undefined)?.by === name);
        expect(own).toHaveLength(steps + 2);
        const last = own.find((tuple) => (tuple.checkpoint.channel_values["log"] as string[])?.length === log.length);
        let at = last;
        let step = steps;
        for (; at !== undefined && own.includes(at); step -= 1) {
          const values = at.checkpoint.channel_values as { readonly log?: string[]; readonly steps?: number };
          expect(values.log ?? []).toEqual(step < 0 ? (values.log ?? []) : log.slice(0, log.length - (steps - step)));
          if (step >= 0) expect(values.steps).toBe(steps - step);
          at = byId.get(String(at.parentConfig?.configurable?.["checkpoint_id"]));
        }
        expect(step).toBe(-2);
      }
    });
  },
  shared,
);
