import { damaged, linesOf, parseBundleLine } from "../codec/bundle.ts";
import { validate } from "../codec/delta.ts";
import type { Json } from "../codec/json.ts";
import { ThreadmarkError } from "../errors.ts";
import { checkId } from "../model/address.ts";
import type { Fault } from "../model/arguments.ts";
import { BundledThread } from "./bundled-thread.ts";
import { makeWay } from "./delete.ts";
import type { Engine } from "./engine.ts";
import type { BundleRecord } from "./export.ts";
import { hasCheckpoints } from "./fork.ts";
import { unremembered } from "./keep-trees.ts";
import type { Change } from "./lane.ts";
import { checkLease } from "./lease.ts";
import { fromRecord } from "./row.ts";
import { isSameThread } from "./same-thread.ts";
import { type EncodedWrite, shownWrites } from "./shown-writes.ts";
import { checkRecord } from "./size-limits.ts";
import { verifyThread } from "./verify.ts";
import { writesChange } from "./writes.ts";

export interface ImportResult {
  /** Threads that were written. */
  readonly imported: number;
  /** Threads that were there already, just so. */
  readonly unchanged: number;
  readonly checkpoints: number;
}

/** Reads a bundle, thread by thread: each is written whole, in one commit, once all its lines have proved sound. */
export async function importBundle(
  engine: Engine,
  source: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): Promise<ImportResult> {
  let imported = 0;
  let unchanged = 0;
  let checkpoints = 0;
  let number = 0;
  let thread: BundledThread | undefined;
  const threads = new Set<string>();
  let begun = false;
  let ended = false;
  for await (const line of linesOf(source)) {
    number += 1;
    if (line === "") continue;
    const record = parseBundleLine(line, number) as BundleRecord;
    if (!begun && record.kind !== "bundle") throw damaged(number, "a bundle begins with a header");
    if (ended) throw damaged(number, "there is something behind the end");
    switch (record.kind) {
      case "bundle":
        if (begun) throw damaged(number, "a bundle begins inside another");
        if (record.version !== 1) {
          throw new ThreadmarkError(
            "VERSION",
            `The bundle has version ${record.version}; this version of threadmark reads 1. Upgrade threadmark.`,
          );
        }
        begun = true;
        break;
      case "thread":
        if (thread) throw damaged(number, "a thread begins inside another");
        if (threads.has(record.id)) throw damaged(number, "its thread was there before");
        thread = new BundledThread(checkId(record.id, "A thread id"), record.createdAt);
        threads.add(thread.id);
        break;
      case "checkpoint":
        if (!thread) throw damaged(number, "a checkpoint has no thread");
        validate(record.change as Json);
        thread.addCheckpoint(record, number);
        break;
      case "writes":
        if (!thread) throw damaged(number, "writes have no thread");
        thread.addWrites(record, number);
        break;
      case "end":
        if (!thread) throw damaged(number, "an end has no thread");
        thread.checkEnd(record, number);
        if (await importThread(engine, thread)) imported += 1;
        else unchanged += 1;
        checkpoints += record.checkpoints;
        thread = undefined;
        break;
      case "done":
        if (thread) throw damaged(number, "the last thread has no end");
        if (threads.size !== record.threads) throw damaged(number, "the threads before it are not all there");
        ended = true;
        break;
      default:
        throw damaged(number, "its kind is unknown");
    }
  }
  if (!ended) throw damaged(number + 1, "the bundle stops before its end");
  return { imported, unchanged, checkpoints };
}

/** Whether the thread was written; false when it was there already. */
async function importThread(engine: Engine, thread: BundledThread): Promise<boolean> {
  const written = await engine.lane(thread.id).add(threadChange(thread));
  for (const { checkpoint, namespace, writes } of thread.writes) {
    // What was there already stays as it is, also where a write would replace it.
    const tape = written ? undefined : await engine.thread(thread.id);
    const there = tape ? await shownWrites(engine, tape, namespace, checkpoint) : [];
    const tasks = new Map<string, EncodedWrite[]>();
    for (const write of writes) {
      if (there.some(({ task, index }) => task === write.task && index === write.index)) continue;
      const place = JSON.stringify([write.task, write.node]);
      tasks.set(place, [...(tasks.get(place) ?? []), write]);
    }
    const changes = [...tasks.values()].map((entries) => {
      const { task, node } = entries[0] as EncodedWrite;
      const stored = entries.map((entry) => [entry.index, entry.channel, entry.value] as const);
      const change = writesChange({ namespace, checkpoint, task, node, writes: stored, lease: undefined });
      return engine.lane(thread.id).add(change);
    });
    await Promise.all(changes);
  }
  if (written) await checkImported(engine, thread.id);
  return written;
}

function threadChange(thread: BundledThread): Change<boolean> {
  return {
    fresh: true,
    plan: async (draft) => {
      const { existing } = draft;
      if (existing && (await hasCheckpoints(draft.engine, existing))) {
        if (await isSameThread(draft.engine, thread.id, thread.checkpoints)) return false;
        checkLease(draft, undefined);
        throw new ThreadmarkError(
          "CONFLICT",
          `Thread ${JSON.stringify(thread.id)} is there already and differs from the bundle's. Delete it first, or import elsewhere.`,
          { thread: thread.id },
        );
      }
      checkLease(draft, undefined);
      // Rows come with their seqs, and where all were deleted those may have been given out, or be a source's.
      if (existing && existing.lastSeq > 0) {
        await makeWay(draft, existing);
        await draft.newTape(existing);
      } else {
        // Rows come with their seqs, so that the key of a checkpoint that another store puts first need not be among theirs.
        if (existing) draft.checks.push({ key: existing.key("tail", existing.lastSeq + 1), value: undefined });
        await draft.tape();
      }
      draft.change({ createdAt: thread.createdAt });
      for (const { seq, row, change } of thread.checkpoints) {
        const tail = draft.encodeRow(fromRecord(seq, row), change);
        checkRecord(draft.engine, thread.id, tail.value, `checkpoint ${JSON.stringify(row.id)}`);
        draft.planned.push(unremembered(tail, change));
      }
      draft.closed = true;
      draft.rereads = true;
      return true;
    },
  };
}

async function checkImported(engine: Engine, id: string): Promise<void> {
  const own = engine.fresh();
  const tape = await own.thread(id);
  const faults: Fault[] = [];
  if (tape) await verifyThread(own, tape, faults);
  const [fault] = faults;
  if (!tape || fault) {
    throw new ThreadmarkError(
      "CORRUPT",
      `Thread ${JSON.stringify(id)} does not read back as it was imported: ${fault?.message ?? "it is missing"}`,
      {
        thread: id,
      },
    );
  }
}
