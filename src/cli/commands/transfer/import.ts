import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { addAbortSignal, type Readable } from "node:stream";
import type { Command } from "commander";
import { CommandFailure, exitCodes } from "../../failure.ts";
import { declare, hideIdsOption } from "../../input/declare.ts";
import { ProgressLine } from "../../output/progress.ts";
import { countText } from "../../output/quantities.ts";
import type { Session } from "../../session.ts";

export function importCommand(program: Command, session: Session): void {
  declare<{ readonly hideIds?: boolean }>(program, session, {
    name: "import",
    summary: "add the threads of a bundle",
    operands: [["[file]", "the bundle; - or none for the standard input"]],
    options: [hideIdsOption()],
    examples: [
      "threadmark import agent.bundle postgres://localhost/agents",
      "threadmark export sqlite:a.db | threadmark import --url sqlite:b.db",
    ],
    store: "new",
    async run({ url, operands: [file = "-"], options: { hideIds = false } }) {
      const { terminal, json, signal } = session;
      session.hideIds = hideIds;
      const size = file === "-" ? undefined : await sizeOf(file);
      const source = (file === "-" ? terminal.streams.stdin : createReadStream(file)) as Readable;
      // The input may be silent for long.
      addAbortSignal(signal, source);
      const result = await session.withStore(url, (store) =>
        ProgressLine.during(session, "importing, bytes:", (update) => store.import(watched(source, update))),
      );
      if (json) terminal.json(result);
      else {
        const { imported, unchanged, checkpoints } = result;
        const already = unchanged === 0 ? "" : `, ${countText(unchanged, "thread")} there already`;
        terminal.note(
          `Read ${countText(checkpoints, "checkpoint")}: ${countText(imported, "thread")} imported${already}.`,
        );
      }

      async function* watched(chunks: AsyncIterable<Buffer>, update: ProgressLine["update"]): AsyncGenerator<Buffer> {
        let bytes = 0;
        for await (const chunk of chunks) {
          bytes += chunk.length;
          update(bytes, size);
          yield chunk;
        }
      }
    },
  });
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch {
    throw new CommandFailure(exitCodes.notFound, "NOT_FOUND", `There is no file ${JSON.stringify(file)} to import.`);
  }
}
