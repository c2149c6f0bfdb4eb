import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Backend, Found } from "../../../../src/backend.ts";
import { ThreadmarkError } from "../../../../src/errors.ts";
import { recordText } from "../../../support/texts.ts";
import { at, creation, metaOf, sealing, step, tailOf } from "./records.ts";

/**
 * Writers that go on through every fault, each on a tape of its own: steps, and a seal after every eight. In the end,
 * every batch reported as applied must be there, every batch reported as refused must not, and the rest may be either.
 */
export class Load {
  readonly #backend: Backend;
  readonly #tapes: readonly number[];
  #stopped = false;
  readonly #sealed = new Map<number, number>();
  #acknowledged = 0;

  constructor(backend: Backend, tapes: number) {
    this.#backend = backend;
    this.#tapes = Array.from({ length: tapes }, (_, index) => index + 1);
  }

  /** Runs until stopped. Each writer checks its own tape after every fault, so a wrong answer fails it at once. */
  async run(): Promise<void> {
    expect(await this.#backend.commit(this.#tapes.map((tape) => creation(tape)))).toEqual(this.#tapes.map(() => true));
    await Promise.all(this.#tapes.map((tape) => this.#write(tape)));
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Until it has committed so many more. */
  async progress(commits: number): Promise<void> {
    const goal = this.#acknowledged + commits;
    for (let waited = 0; this.#acknowledged < goal; waited++) {
      if (waited > 8000) throw new Error("the load does not get on");
      await sleep(5);
    }
  }

  async #write(tape: number): Promise<void> {
    let seq = 0;
    let meta = recordText("meta");
    const waiting: Found[] = [];
    while (!this.#stopped) {
      const value = recordText({ tape, seq: seq + 1, id: randomBytes(8).toString("hex") });
      if (await this.#commit(tape, step(tape, seq + 1, value, meta), () => this.#has(tape, seq + 1))) {
        seq++;
        waiting.push({ item: seq, part: 0, value });
      }
      if (waiting.length < 8) continue;
      const after = recordText({ sealed: seq, id: randomBytes(8).toString("hex") });
      const isSealed = async (): Promise<boolean> => (await this.#backend.read([{ get: metaOf(tape) }]))[0] === after;
      if (await this.#commit(tape, sealing(tape, seq, meta, after), isSealed)) {
        meta = after;
        waiting.length = 0;
        this.#sealed.set(tape, seq);
        await this.#expectPacks(tape, seq);
      }
      expect(await tailOf(this.#backend, tape)).toEqual(waiting);
    }
    expect(await tailOf(this.#backend, tape)).toEqual(waiting);
    expect(await this.#backend.read([{ get: metaOf(tape) }])).toEqual([meta]);
  }

  /** Each writer is alone on its tape, so nothing is ever refused. */
  async #commit(
    tape: number,
    batch: Parameters<Backend["commit"]>[0][number],
    look: () => Promise<boolean>,
  ): Promise<boolean> {
    try {
      expect(await this.#backend.commit([batch]), `tape ${tape}`).toEqual([true]);
      this.#acknowledged++;
      return true;
    } catch (error) {
      if (!(error instanceof ThreadmarkError)) throw error;
      expect(error.code).toBe("BACKEND");
      const applied = await look();
      if (error.committed !== "unknown") expect(applied, `tape ${tape}: said not to be committed`).toBe(false);
      return applied;
    }
  }

  async #has(tape: number, seq: number): Promise<boolean> {
    return (await this.#backend.read([{ get: at("tail", tape, seq) }]))[0] !== undefined;
  }

  async #expectPacks(tape: number, seq: number): Promise<void> {
    const packs = await this.#backend.read([
      { get: at("rows", tape, seq) },
      { get: at("net", tape, seq) },
      { get: at("steps", tape, seq) },
    ]);
    expect(packs).not.toContain(undefined);
  }

  /** After all: every seal is whole, and nothing is left over. */
  async check(backend: Backend): Promise<void> {
    for (const tape of this.#tapes) {
      const reads = (["rows", "net", "steps"] as const).map((table) => ({
        scan: { table, lineage: tape, group: tape },
      }));
      const packs = (await backend.read(reads)) as readonly (readonly Found[])[];
      const places = packs.map((found) => found.map(({ item }) => item));
      expect(places[1]).toEqual(places[0]);
      expect(places[2]).toEqual(places[0]);
      expect(places[0]?.at(-1)).toBe(this.#sealed.get(tape));
      for (const { item } of await tailOf(backend, tape)) expect(item).toBeGreaterThan(this.#sealed.get(tape) ?? 0);
    }
    expect(await backend.verify()).toEqual([]);
  }
}
