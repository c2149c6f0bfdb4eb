import { type Command, Option } from "commander";
import { declare, hideIdsOption } from "../../input/declare.ts";
import { ProgressLine } from "../../output/progress.ts";
import { bytesText, countText } from "../../output/quantities.ts";
import type { Session } from "../../session.ts";

export function backupCommand(program: Command, session: Session): void {
  declare<{ readonly since?: string }>(program, session, {
    name: "backup",
    summary: "write the store into a file, while others use it",
    operands: [["<file>", "the backup, a bundle; it gets its name when it is whole"]],
    options: [new Option("--since <cursor>", "only what changed since the backup that printed this cursor")],
    examples: [
      "threadmark backup monday.bundle sqlite:agent.db",
      "threadmark backup tuesday.bundle sqlite:agent.db --since $(cat cursor)",
    ],
    async run({ url, operands: [file = ""], options: { since } }) {
      const { terminal, json, signal } = session;
      const result = await session.withStore(url, (store) =>
        ProgressLine.during(session, "backing up, threads:", (update) =>
          store.backup(file, {
            ...(since !== undefined && { since }),
            progress: (threads) => update(threads, undefined),
            signal,
          }),
        ),
      );
      if (json) {
        terminal.json(result);
        return;
      }
      const { consistent, cursor, threads, deleted, checkpoints, bytes } = result;
      const gone = deleted === 0 ? "" : `, ${countText(deleted, "deleted thread")}`;
      const moment = consistent === "store" ? "All of one moment." : "Each thread of a moment of its own.";
      terminal.note(
        `Wrote ${countText(threads, "thread")}, ${countText(checkpoints, "checkpoint")}${gone}, ${bytesText(bytes)}. ${moment}`,
      );
      terminal.line(cursor);
    },
  });
}

export function restoreCommand(program: Command, session: Session): void {
  declare<{ readonly hideIds?: boolean }>(program, session, {
    name: "restore",
    summary: "bring backups into a store, each after the one it goes on from",
    operands: [["<files...>", "the backups in order, the whole one first; a url may come last"]],
    options: [hideIdsOption()],
    examples: ["threadmark restore monday.bundle tuesday.bundle sqlite:restored.db"],
    store: "new",
    async run({ url, operands: files, options: { hideIds = false } }) {
      const { terminal, json, signal } = session;
      session.hideIds = hideIds;
      const result = await session.withStore(url, (store) =>
        ProgressLine.during(session, "restoring, threads:", (update) =>
          store.restore(files, { progress: (threads) => update(threads, undefined), signal }),
        ),
      );
      if (json) {
        terminal.json(result);
        return;
      }
      const { restored, deleted, checkpoints } = result;
      const gone = deleted === 0 ? "" : `, ${countText(deleted, "thread")} deleted`;
      terminal.note(`Restored ${countText(restored, "thread")}, ${countText(checkpoints, "checkpoint")}${gone}.`);
    },
  });
}
