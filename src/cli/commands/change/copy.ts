import type { Command } from "commander";
import { declare } from "../../input/declare.ts";
import { existingThread } from "../../input/lookup.ts";
import { printable } from "../../output/printable.ts";
import type { Session } from "../../session.ts";

export function copyCommand(program: Command, session: Session): void {
  declare(program, session, {
    name: "copy",
    summary: "make a new thread with all checkpoints of another",
    operands: [
      ["<thread>", "the thread to copy"],
      ["<into>", "the id of the new thread"],
    ],
    examples: ["threadmark copy user-42 user-42-backup"],
    async run({ url, operands: [id = "", into = ""] }) {
      await session.withStore(url, async (store) => {
        const copy = await (await existingThread(store, id)).copy(into);
        if (session.json) session.terminal.json({ thread: copy.id, checkpoints: await copy.count() });
        else session.terminal.line(printable(copy.id));
      });
    },
  });
}
