import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";
import type { Store } from "../../api/store.ts";
import { changeSummary } from "../../display/steps/changes.ts";
import { type Ran, ranIn, taskLabels } from "../../display/steps/step-name.ts";
import type { Renderers } from "../../display/values/renderers.ts";
import type { Checkpoint, CheckpointInfo } from "../../model/checkpoint.ts";
import { RecentMap } from "../../platform/recent-map.ts";

const MOST = 20_000;

/** Says what a step did: a line on its changes, and the nodes that ran in it. */
export interface StepSummary {
  readonly line: string;
  readonly ran: readonly Ran[];
  /** The tasks of a parallel step, in order, each with its argument. */
  readonly tasks: readonly string[];
}

/** The summaries of steps. Each needs two checkpoints, so they are made in the background, once, and kept. */
export class StepSummaries {
  readonly #store: Store;
  readonly #renderers: Renderers;
  readonly #lines = new RecentMap<string, StepSummary>(MOST);
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(store: Store, renderers: Renderers) {
    this.#store = store;
    this.#renderers = renderers;
  }

  /** Returns the summary of a step; undefined until it is made. */
  get(info: CheckpointInfo): StepSummary | undefined {
    return this.#lines.get(keyOf(info));
  }

  /** Makes the lines of neighbouring checkpoints, newest first; resolves when they are there, or after `patience`. */
  async make(rows: readonly CheckpointInfo[], patience: number): Promise<void> {
    const missing = rows.filter((row) => this.get(row) === undefined);
    const [first, last] = [missing[0], missing.at(-1)];
    if (first === undefined || last === undefined) return;
    const key = `${keyOf(first)} ${keyOf(last)}`;
    const work = this.#underWay.get(key) ?? this.#walk(missing).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, work);
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patience);
    });
    await Promise.race([work, enough]).finally(() => clearTimeout(timer));
  }

  /** Reads states from the newest wanted on, and compares each with its parent's as soon as that is read. */
  async #walk(wanted: readonly CheckpointInfo[]): Promise<void> {
    const [newest, oldest] = [wanted[0]!, wanted.at(-1)!];
    const thread = this.#store.thread(newest.thread, { namespace: newest.namespace });
    const left = new Set(wanted.map(({ id }) => id));
    /** Wanted states whose parent was not met yet, by the parent's id. */
    const children = new Map<string, { info: CheckpointInfo; state: unknown }[]>();
    const settle = (info: CheckpointInfo, before: Before | undefined, after: unknown): void => {
      const line = changeSummary(before?.state, after, this.#renderers);
      this.#lines.set(keyOf(info), { line, ran: ranIn(info, before?.next), tasks: taskLabels(before?.next) });
    };
    let started = performance.now();
    for await (const { state, next, ...info } of thread.history({ before: newest.seq + 1, states: true })) {
      for (const child of children.get(info.id) ?? []) settle(child.info, { state, next }, child.state);
      children.delete(info.id);
      if (left.delete(info.id)) {
        if (info.parent === null) settle(info, undefined, state);
        else children.set(info.parent, [...(children.get(info.parent) ?? []), { info, state }]);
      }
      if (left.size === 0 && (children.size === 0 || info.seq < oldest.seq - 1)) break;
      // Large states take long to read: as much time again is left to what people wait for.
      const took = performance.now() - started;
      await (took < 4 ? turn() : pause(Math.min(100, took)));
      started = performance.now();
    }
    for (const [parent, waiting] of children) {
      const before = await thread.get(parent);
      for (const { info, state } of waiting) settle(info, before, state);
      await turn();
    }
    // A checkpoint that was deleted meanwhile must not be asked for again and again.
    for (const info of wanted) if (left.has(info.id)) this.#lines.set(keyOf(info), { line: "", ran: [], tasks: [] });
  }

  /** Forgets all lines after a change that was made here. */
  forget(): void {
    this.#lines.clear();
  }
}

type Before = Pick<Checkpoint, "state" | "next">;

function keyOf({ thread, namespace, id, parent, seq }: CheckpointInfo): string {
  return JSON.stringify([thread, namespace, id, parent, seq]);
}
