import { userInfo } from "node:os";
import { type Command, Option } from "commander";
import { usage } from "../../failure.ts";
import { declare } from "../../input/declare.ts";
import { existingThread } from "../../input/lookup.ts";
import { printable } from "../../output/printable.ts";
import { dateText } from "../../output/quantities.ts";
import { printFacts } from "../../output/table.ts";
import type { Session } from "../../session.ts";

interface Options {
  readonly break?: boolean;
  readonly reason?: string;
}

export function leaseCommand(program: Command, session: Session): void {
  declare<Options>(program, session, {
    name: "lease",
    summary: "show who holds a thread's lease, or break it",
    operands: [["<thread>", "the thread"]],
    options: [
      new Option("--break", "end the lease, whatever the clock says: its holder is fenced"),
      new Option("--reason <text>", "why it is broken, for the thread's log of broken leases"),
    ],
    examples: ["threadmark lease user-42", 'threadmark lease user-42 --break --reason "its clock was a year ahead"'],
    async run({ url, operands: [id = ""], options }) {
      const { reason } = options;
      if (reason !== undefined && !options.break) throw usage("--reason says why a lease is broken: give --break too.");
      const { terminal, json } = session;
      const { held, broken } = await session.withStore(url, async (store) => {
        const thread = store.thread(id);
        if (options.break) await thread.breakLease({ by: userName(), ...(reason !== undefined && { reason }) });
        const info = await thread.lease();
        if (!info.held && info.broken.length === 0) await existingThread(store, id);
        return info;
      });
      if (json) {
        terminal.json({ thread: id, held, broken });
        return;
      }
      if (!held) terminal.note("Nobody holds the lease.");
      else {
        printFacts(terminal, [
          ["holder", printable(held.holder)],
          ["epoch", String(held.epoch)],
          ["remaining", held.remaining > 0 ? `${held.remaining} ms` : "none: anybody may take it"],
        ]);
      }
      for (const one of broken) {
        const because = one.reason === null ? "" : `: ${one.reason}`;
        const by = one.by === null ? "" : ` by ${one.by}`;
        terminal.line(printable(`broken ${dateText(one.at)}${by}, epoch ${one.epoch} of ${one.holder}${because}`));
      }
    },
  });
}

/** Returns the name of the user, if the system has one. */
function userName(): string {
  try {
    return userInfo().username || "unknown";
  } catch {
    return "unknown";
  }
}
