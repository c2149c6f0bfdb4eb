import { type Command, Option } from "commander";
import { ThreadmarkError } from "../../../errors.ts";
import type { ThreadInfo } from "../../../model/checkpoint.ts";
import type { PruneOptions } from "../../../model/interface/options.ts";
import type { PruneResult } from "../../../model/interface/results.ts";
import { failIfDamaged, usage } from "../../failure.ts";
import { confirm } from "../../input/confirm.ts";
import { declare, duration, wholeNumber } from "../../input/declare.ts";
import { existingThread } from "../../input/lookup.ts";
import { filterOf, filterOptions, type ThreadFilter } from "../../input/thread-filter.ts";
import { interruptible } from "../../interruptible.ts";
import { printable } from "../../output/printable.ts";
import { ProgressLine } from "../../output/progress.ts";
import { bytesText, countText } from "../../output/quantities.ts";
import { printTable } from "../../output/table.ts";
import type { Session } from "../../session.ts";

interface Options extends ThreadFilter {
  readonly all?: boolean;
  readonly keepLast?: number;
  readonly olderThan?: number;
  readonly keepLabelled?: boolean;
  readonly protectAncestors?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

type Chosen = Pick<ThreadInfo, "id" | "checkpoints">;

interface Pruned extends PruneResult {
  readonly thread: string;
}

export function pruneCommand(program: Command, session: Session): void {
  declare<Options>(program, session, {
    name: "prune",
    summary: "delete old checkpoints of a thread, or of all",
    operands: [["[thread]", "the thread"]],
    options: [
      new Option("--all", "every thread of the store, or all those that the filters name"),
      ...filterOptions(),
      new Option("-k, --keep-last <count>", "how many of the newest to keep, in each namespace").argParser(
        wholeNumber(1),
      ),
      new Option("--older-than <time>", "keep what is younger: 90s, 30min, 12h, 30d, 2w").argParser(duration),
      new Option("--keep-labelled", "keep what has a label"),
      new Option("--protect-ancestors", "keep every ancestor of what is kept"),
      new Option("--dry-run", "say what would go, and delete nothing"),
      new Option("-y, --yes", "do not ask"),
    ],
    examples: [
      "threadmark prune user-42 --keep-last 10 --dry-run",
      "threadmark prune --all --older-than 30d --keep-labelled --yes",
      "threadmark prune --all --status done --keep-last 1 --yes",
    ],
    async run({ url, operands: [id], options }) {
      if ((id === undefined) === (options.all !== true)) throw usage("Name a thread to prune, or pass --all.");
      const filter = filterOf(options);
      const isFiltered = Object.keys(filter).length > 0;
      if (id !== undefined && isFiltered) throw usage("--workflow, --status and --where go with --all.");
      if (options.keepLast === undefined && options.olderThan === undefined)
        throw usage("Say what to keep: --keep-last, --older-than or both.");
      await session.withStore(url, async (store) => {
        const few = await fewOf();
        const total = few?.length ?? (await store.counts()).threads;
        const { dryRun, yes } = options;
        const damaged = new Set<string>();
        if (!dryRun && !yes) {
          const doomed: Pruned[] = [];
          await pruneAll(true, doomed);
          await confirm(session, question(doomed), yes, ", or --dry-run to see");
        }
        const pruned: Pruned[] = [];
        try {
          await pruneAll(dryRun === true, pruned);
        } finally {
          // Also after an interruption: checkpoints already removed are gone.
          report(session, pruned, dryRun === true);
        }
        failIfDamaged([...damaged]);

        /** Returns the threads that are named, or that the index finds by filters; undefined for all. */
        async function fewOf(): Promise<readonly Chosen[] | undefined> {
          if (id !== undefined) return [{ id: (await existingThread(store, id)).id, checkpoints: Infinity }];
          if (!isFiltered) return undefined;
          // A thread that goes on meanwhile moves in this list, so that it is read before anything is pruned.
          const chosen: Chosen[] = [];
          for await (const { id, checkpoints } of interruptible(
            session.signal,
            store.threads({ ...filter, order: "updated" }),
          ))
            chosen.push({ id, checkpoints });
          return chosen;
        }

        function pruneAll(dry: boolean, found: Pruned[]): Promise<void> {
          return ProgressLine.during(session, dry ? "looking, threads:" : "pruning, threads:", async (update) => {
            let done = 0;
            for await (const { id: thread, checkpoints } of interruptible(session.signal, few ?? store.threads())) {
              update(done, total);
              done += 1;
              // The rule keeps at least this many of each namespace: the thread need not be read.
              if (checkpoints <= (options.keepLast ?? 1)) continue;
              try {
                const result = await store.thread(thread).prune({ ...retention(options), dryRun: dry });
                if (result.deleted > 0) found.push({ thread, ...result });
              } catch (error) {
                if (ThreadmarkError.is(error, "CORRUPT") && id === undefined) damaged.add(thread);
                else if (!ThreadmarkError.is(error, "UNSUPPORTED")) throw error;
                else if (!dry)
                  session.terminal.note(`Left alone: ${printable(thread)}, which only LangGraph's saver can prune.`);
              }
            }
          });
        }
      });
    },
  });
}

function retention({ keepLast = 1, olderThan, keepLabelled, protectAncestors }: Options): PruneOptions {
  return {
    keepLast,
    ...(olderThan !== undefined && { olderThan }),
    ...(keepLabelled === true && { keepLabelled }),
    ...(protectAncestors === true && { ancestors: "protect" }),
  };
}

function total(pruned: readonly Pruned[]): PruneResult {
  return {
    deleted: pruned.reduce((sum, { deleted }) => sum + deleted, 0),
    bytesReclaimed: pruned.reduce((sum, { bytesReclaimed }) => sum + bytesReclaimed, 0),
  };
}

function question(pruned: readonly Pruned[]): string {
  const { deleted, bytesReclaimed } = total(pruned);
  return `Delete ${countText(deleted, "checkpoint")} of ${countText(pruned.length, "thread")}, ${bytesText(bytesReclaimed)}?`;
}

function report({ terminal, json }: Session, pruned: readonly Pruned[], dryRun: boolean): void {
  if (json) {
    for (const { thread, deleted, bytesReclaimed } of pruned)
      terminal.json({ thread, deleted, bytesReclaimed, dryRun });
    return;
  }
  if (pruned.length > 0) {
    printTable(
      terminal,
      [
        { title: "THREAD", text: ({ thread }) => thread, flexible: true },
        { title: "CHECKPOINTS", text: ({ deleted }) => String(deleted), align: "right" },
        { title: "BYTES", text: ({ bytesReclaimed }) => bytesText(bytesReclaimed), align: "right" },
      ],
      pruned,
    );
  }
  const { deleted, bytesReclaimed } = total(pruned);
  const verb = dryRun ? "Would delete" : "Deleted";
  terminal.note(`${verb} ${countText(deleted, "checkpoint")}, ${bytesText(bytesReclaimed)}.`);
}
