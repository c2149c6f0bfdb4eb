import { type Command, Option } from "commander";
import type { ErasedPlace } from "../../../model/interface/erasure.ts";
import { damagedThreads, failIfDamaged, usage } from "../../failure.ts";
import { confirm } from "../../input/confirm.ts";
import { declare } from "../../input/declare.ts";
import { existingThread } from "../../input/lookup.ts";
import { parsePath, pathText } from "../../input/path.ts";
import { printable } from "../../output/printable.ts";
import { countText } from "../../output/quantities.ts";
import type { Session } from "../../session.ts";

interface Options {
  readonly forks?: boolean;
  readonly compact?: boolean;
  readonly yes?: boolean;
}

export function eraseCommand(program: Command, session: Session): void {
  declare<Options>(program, session, {
    name: "erase",
    summary: "take values out of the whole history of a thread",
    operands: [
      ["<thread>", "the thread; its history stays, with [erased] in the place of the values"],
      ["<paths...>", "where the values are in states; a url may come last"],
    ],
    options: [
      new Option("--forks", "also in all threads that share the history"),
      new Option("--compact", "then remove the last traces from the medium"),
      new Option("-y, --yes", "do not ask"),
    ],
    examples: ["threadmark erase user-42 user.email --forks --compact sqlite:agent.db"],
    async run({ url, operands: [id = "", ...paths], options: { forks = false, compact = false, yes } }) {
      const { terminal, json, signal } = session;
      if (paths.length === 0) throw usage("Say what to erase: a path like user.email, or several.");
      const targets = paths.map(parsePath);
      await session.withStore(url, async (store) => {
        const thread = await existingThread(store, id);
        const names = paths.map((path) => printable(path)).join(", ");
        const where = forks ? "and of all threads that share it" : "alone";
        await confirm(
          session,
          `Erase ${names} in the whole history of thread ${printable(JSON.stringify(id))} ${where}? It cannot be undone.`,
          yes,
        );
        const { erased } = await thread.erase(targets, { forks, signal });
        const damaged = compact ? await damagedThreads(store.compact({ signal })) : [];
        if (json) {
          terminal.json({ thread: id, erased });
          failIfDamaged(damaged);
          return;
        }
        for (const place of erased) terminal.line(printable(placeText(place)));
        const rest = compact || erased.length === 0 ? "" : " Run compact to remove the last traces from the medium.";
        terminal.note(`Erased in ${countText(erased.length, "place")}.${rest}`);
        failIfDamaged(damaged);
      });
    },
  });
}

function placeText({ thread, namespace, checkpoint, part, path }: ErasedPlace): string {
  const at = [thread, ...namespace, checkpoint ?? ""].filter((one) => one !== "").join(" / ");
  return `${at}  ${part}  ${pathText(path)}`;
}
