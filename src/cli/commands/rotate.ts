import { type Command, Option } from "commander";
import { usage } from "../failure.ts";
import { declare } from "../input/declare.ts";
import { keysOf } from "../input/key-file.ts";
import { ProgressLine } from "../output/progress.ts";
import { countText } from "../output/quantities.ts";
import type { Session } from "../session.ts";

export function rotateCommand(program: Command, session: Session): void {
  declare<{ readonly data?: boolean; readonly migrate?: boolean }>(program, session, {
    name: "rotate",
    summary: "wrap the keys of an encrypted store by the first key of the key file",
    options: [
      new Option("--data", "also write everything anew, under new data keys"),
      new Option("--migrate", "encrypt a store that is not encrypted yet"),
    ],
    examples: ["threadmark rotate --key-file keys.txt sqlite:agent.db"],
    async run({ url, options: { data = false, migrate = false } }) {
      const { terminal, json, signal } = session;
      if (keysOf(session.keyFile, terminal.streams.env) === undefined)
        throw usage("rotate needs the keys of the store, the new one first: --key-file.");
      session.migrating = migrate;
      const result = await session.withStore(url, (store) =>
        ProgressLine.during(session, "rotating, threads:", (update) =>
          store.rotate({ data, progress: (threads) => update(threads, undefined), signal }),
        ),
      );
      if (json) terminal.json(result);
      else {
        const { wrapped, rewritten } = result;
        terminal.note(`${countText(wrapped, "key")} wrapped anew, ${countText(rewritten, "lineage")} written anew.`);
      }
    },
  });
}
