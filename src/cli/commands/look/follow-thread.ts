import { checkpointRecord, wholeRecord } from "../../../display/json-records.ts";
import { stepName } from "../../../display/steps/step-name.ts";
import type { CheckpointInfo } from "../../../model/checkpoint.ts";
import { existingThread } from "../../input/lookup.ts";
import { printable } from "../../output/printable.ts";
import { dateText } from "../../output/quantities.ts";
import type { Terminal } from "../../output/terminal.ts";
import type { Session } from "../../session.ts";

export interface TailOptions {
  readonly lines: number;
  readonly states?: boolean;
  readonly namespace: readonly string[];
}

/** Prints a thread's newest checkpoints, and then new ones as they are committed, until the session is interrupted. */
export async function followThread(session: Session, url: string, id: string, options: TailOptions): Promise<void> {
  const { terminal, json, signal } = session;
  await session.withStore(url, async (store) => {
    const thread = await existingThread(store, id, options.namespace);
    // Begins before the first look, so that nothing is committed unseen in between.
    const changes = store.watch({ thread: id, signal });
    let made = await madeAt();
    let last: CheckpointInfo | undefined = await thread.latest();
    if (last) await print(await newest(last.seq + 1, options.lines));
    for await (const _ of changes) await print(await fresh());

    /** Returns when the thread was made. A thread that was deleted and made again is another thread, and counts from the start. */
    async function madeAt(): Promise<number | undefined> {
      return (await store.thread(id).info())?.createdAt;
    }

    /** Returns up to `limit` checkpoints below the seq `before`, oldest first. */
    async function newest(before: number, limit: number): Promise<CheckpointInfo[]> {
      const found: CheckpointInfo[] = [];
      if (limit > 0) for await (const info of thread.history({ before, limit })) found.push(info);
      return found.reverse();
    }

    /** Returns the checkpoints committed since the last look, oldest first. */
    async function fresh(): Promise<CheckpointInfo[]> {
      let { found, reached } = await since(last);
      if (last === undefined || reached?.id !== last.id) {
        const now = await madeAt();
        if (now !== made) ({ found, reached } = await since(undefined));
        made = now;
      }
      last = found[0] ?? reached;
      return found.reverse();
    }

    /** Returns the checkpoints after `after`, newest first, and the checkpoint at which the walk stopped. */
    async function since(
      after: CheckpointInfo | undefined,
    ): Promise<{ found: CheckpointInfo[]; reached: CheckpointInfo | undefined }> {
      const found: CheckpointInfo[] = [];
      for await (const info of thread.history()) {
        if (after !== undefined && info.seq <= after.seq) return { found, reached: info };
        found.push(info);
      }
      return { found, reached: undefined };
    }

    async function print(infos: readonly CheckpointInfo[]): Promise<void> {
      for (const info of infos) {
        if (!json) printLine(terminal, info);
        else if (!options.states) terminal.json(checkpointRecord(info));
        else {
          const whole = await thread.get(info.id);
          if (whole !== undefined) terminal.json(wholeRecord(whole));
        }
      }
    }
  });
}

function printLine(
  terminal: Terminal,
  { id, step, source, node, pending, waiting, label, createdAt }: CheckpointInfo,
): void {
  const state =
    waiting > 0 ? terminal.style("yellow", "waiting") : pending === 0 ? terminal.style("green", "done") : "";
  const what = terminal.style("bold", printable(stepName({ node, source })));
  const parts = [
    terminal.style("dim", dateText(createdAt)),
    String(step).padStart(4),
    what,
    state,
    printable(label),
    terminal.style("dim", printable(id)),
  ];
  terminal.line(parts.filter((part) => part !== "").join("  "));
}
