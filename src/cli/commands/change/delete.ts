import { type Command, Option } from "commander";
import { usage } from "../../failure.ts";
import { confirm } from "../../input/confirm.ts";
import { collected, declare, namespaceOption } from "../../input/declare.ts";
import { checkpointAt, existingThread } from "../../input/lookup.ts";
import { printable } from "../../output/printable.ts";
import { countText } from "../../output/quantities.ts";
import type { Session } from "../../session.ts";

interface Options {
  readonly checkpoint: readonly string[];
  readonly run?: string;
  readonly namespace: readonly string[];
  readonly yes?: boolean;
}

export function deleteCommand(program: Command, session: Session): void {
  declare<Options>(program, session, {
    name: "delete",
    summary: "delete a thread, or some of its checkpoints",
    operands: [["<thread>", "the thread; what was forked from it stays"]],
    options: [
      new Option("-c, --checkpoint <checkpoint>", "only this one; may be given several times")
        .argParser(collected)
        .default([], "all"),
      new Option("--run <run>", "only those of this run"),
      namespaceOption(),
      new Option("-y, --yes", "do not ask"),
    ],
    examples: ["threadmark delete user-42", "threadmark delete user-42 --checkpoint @3 --yes"],
    async run({ url, operands: [id = ""], options }) {
      const { checkpoint, run, namespace, yes } = options;
      if (checkpoint.length > 0 && run !== undefined) throw usage("Give --checkpoint or --run, not both.");
      if (checkpoint.length === 0 && namespace.length > 0)
        throw usage("--namespace says where the --checkpoint is; there is none.");
      await session.withStore(url, async (store) => {
        const thread = await existingThread(store, id, namespace);
        const name = printable(JSON.stringify(id));
        if (checkpoint.length > 0) {
          const ids: string[] = [];
          for (const reference of checkpoint) ids.push((await checkpointAt(thread, reference)).id);
          await confirm(session, `Delete ${countText(ids.length, "checkpoint")} of thread ${name}?`, yes);
          report(await thread.deleteCheckpoints(ids));
        } else if (run !== undefined) {
          await confirm(
            session,
            `Delete the checkpoints of run ${printable(JSON.stringify(run))} of thread ${name}?`,
            yes,
          );
          report(await thread.deleteRun(run));
        } else {
          let count = 0;
          for (const parts of await thread.namespaces()) count += await store.thread(id, { namespace: parts }).count();
          await confirm(session, `Delete thread ${name} with ${countText(count, "checkpoint")}?`, yes);
          await thread.delete();
          report(count);
        }
      });

      function report(deleted: number): void {
        if (session.json) session.terminal.json({ thread: id, deleted });
        else session.terminal.note(`Deleted ${countText(deleted, "checkpoint")}.`);
      }
    },
  });
}
