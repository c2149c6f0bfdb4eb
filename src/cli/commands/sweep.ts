import { type Command, Option } from "commander";
import type { RetentionOptions, SweepResult, SweptStatus } from "../../model/retention/sweep.ts";
import { CommandFailure, exitCodes, usage } from "../failure.ts";
import { confirm } from "../input/confirm.ts";
import { collected, declare, duration, wholeNumber } from "../input/declare.ts";
import { ProgressLine } from "../output/progress.ts";
import { bytesText, countText } from "../output/quantities.ts";
import type { Session } from "../session.ts";

interface Options {
  readonly idle?: number;
  readonly status?: readonly string[];
  readonly keepLast?: number;
  readonly olderThan?: number;
  readonly keepLabelled?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

const statuses = ["done", "failed", "cancelled", "paused"];

export function sweepCommand(program: Command, session: Session): void {
  declare<Options>(program, session, {
    name: "sweep",
    summary: "delete idle threads and old checkpoints of the whole store",
    options: [
      new Option("--idle <time>", "delete threads without a new checkpoint for so long: 12h, 30d, 2w").argParser(
        duration,
      ),
      new Option(
        "--status <status>",
        `only threads of this status; may be given again (${statuses.join(", ")})`,
      ).argParser(collected),
      new Option("-k, --keep-last <count>", "how many checkpoints to keep of each namespace").argParser(wholeNumber(1)),
      new Option("--older-than <time>", "keep checkpoints that are younger").argParser(duration),
      new Option("--keep-labelled", "keep checkpoints that have a label"),
      new Option("--dry-run", "say what would go, and delete nothing"),
      new Option("-y, --yes", "do not ask"),
    ],
    examples: [
      "threadmark sweep --idle 30d --status done --dry-run",
      "threadmark sweep --keep-last 20 --older-than 7d --yes",
    ],
    async run({ url, options }) {
      const retention = rulesOf(options);
      const { dryRun = false, yes } = options;
      await session.withStore(
        url,
        async (store) => {
          const sweep = (dry: boolean): Promise<SweepResult> =>
            ProgressLine.during(session, dry ? "looking, threads:" : "sweeping, threads:", (update) =>
              store.sweep({ dryRun: dry, signal: session.signal, progress: (done) => update(done) }),
            );
          if (!dryRun && !yes) {
            const { threads, checkpoints, bytes } = await sweep(true);
            const what = `${countText(threads, "thread")} and ${countText(checkpoints, "checkpoint")} of others`;
            await confirm(session, `Delete ${what}, ${bytesText(bytes)}?`, yes, ", or --dry-run to see");
          }
          const result = await sweep(dryRun);
          report(session, result, dryRun);
          failIfAnyDamaged(result);
        },
        false,
        undefined,
        undefined,
        retention,
      );
    },
  });
}

function rulesOf({ idle, status, keepLast, olderThan, keepLabelled = false }: Options): RetentionOptions {
  const isPruning = keepLast !== undefined || olderThan !== undefined;
  if (idle === undefined && !isPruning) throw usage("Say what goes: --idle, --keep-last or --older-than.");
  if (idle === undefined && status !== undefined) throw usage("--status is for the threads that go: give --idle, too.");
  for (const one of status ?? []) {
    if (!statuses.includes(one)) throw usage(`--status must be one of ${statuses.join(", ")}.`);
  }
  return {
    ...(idle !== undefined && {
      threads: { idle, ...(status !== undefined && { status: status as readonly SweptStatus[] }) },
    }),
    ...(isPruning && {
      checkpoints: {
        ...(keepLast !== undefined && { keepLast }),
        ...(olderThan !== undefined && { olderThan }),
        keepLabelled,
      },
    }),
  };
}

function failIfAnyDamaged({ damaged }: SweepResult): void {
  if (damaged === 0) return;
  const message = `Passed over ${countText(damaged, "damaged thread")}: \`verify\` names them. Restore them from a backup.`;
  throw new CommandFailure(exitCodes.faulty, "CORRUPT", message);
}

function report({ terminal, json }: Session, result: SweepResult, dryRun: boolean): void {
  if (json) {
    terminal.json({ ...result, dryRun });
    return;
  }
  const { threads, checkpoints, bytes, spared } = result;
  const verb = dryRun ? "Would delete" : "Deleted";
  const what = `${countText(threads, "thread")} and ${countText(checkpoints, "checkpoint")} of others`;
  terminal.note(`${verb} ${what}, ${bytesText(bytes)}.`);
  if (spared > 0) terminal.note(`Left alone: ${countText(spared, "thread")}, in use or for another program to prune.`);
}
