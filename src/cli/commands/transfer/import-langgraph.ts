import { type Command, Option } from "commander";
import type { ImportFault } from "../../../langgraph/import/index.ts";
import { CommandFailure, exitCodes } from "../../failure.ts";
import { declare, keyFileOption } from "../../input/declare.ts";
import { printable } from "../../output/printable.ts";
import { ProgressLine } from "../../output/progress.ts";
import { changeText, countText } from "../../output/quantities.ts";
import type { Session } from "../../session.ts";

type Importer = typeof import("../../../langgraph/import/index.ts");

interface Options {
  readonly into?: string;
  readonly schema?: string;
}

export function importLangGraphCommand(program: Command, session: Session): void {
  declare<Options>(program, session, {
    name: "import-langgraph",
    summary: "take over the threads of LangGraph's own SQLite or Postgres saver",
    operands: [["<source>", "the file of SqliteSaver, or the postgres:// url of PostgresSaver; it is only read"]],
    options: [
      new Option("--into <url>", "the store (default: $THREADMARK_URL, or sqlite:threadmark.db)"),
      keyFileOption(),
      new Option("--schema <name>", "the schema of PostgresSaver's tables (default: public)"),
    ],
    examples: [
      "threadmark import-langgraph checkpoints.sqlite --into sqlite:agent.db",
      "threadmark import-langgraph postgres://localhost/app --into postgres://localhost/app",
    ],
    store: false,
    async run({ operands: [location = ""], options: { into, schema } }) {
      const { terminal, json, signal } = session;
      const url = session.urlOf(into);
      const { openSaverDatabase, transfer } = await load();
      const source = await openSaverDatabase(location, schema === undefined ? {} : { schema });
      const progress = new ProgressLine(terminal, "importing, checkpoints:");
      try {
        const before = await source.bytes();
        const onProgress = (done: number, total: number): void => progress.update(done, total);
        const result = await session.withStore(url, (store) => transfer(source, store, { signal, onProgress }));
        progress.end();
        // Measured after closing, so that SQLite's log does not count.
        const after = await session.withStore(url, async (store) => (await store.stats()).bytes.total);
        if (json) terminal.json({ ...result, bytes: { before, after } });
        else {
          for (const fault of result.faults) terminal.line(faultText(fault));
          const { threads, checkpoints, writes, unchanged } = result;
          const already = unchanged === 0 ? "" : `, ${countText(unchanged, "checkpoint")} there already`;
          terminal.note(
            `Read ${countText(threads, "thread")}: ${countText(checkpoints, "checkpoint")} and ${countText(writes, "write")} imported${already}.`,
          );
          const change = changeText(before, after);
          if (change !== undefined) terminal.note(change);
        }
        if (result.faults.length > 0) {
          const count = countText(result.faults.length, "checkpoint");
          throw new CommandFailure(exitCodes.faulty, "FAULTY", `${count} could not be read; all others were imported.`);
        }
      } catch (error) {
        progress.end();
        if (signal.aborted) terminal.note("Stopped. Run the same command again to go on.");
        throw error;
      } finally {
        await source.close();
      }
    },
  });
}

function faultText({ thread, namespace, checkpoint, message }: ImportFault): string {
  const where = [thread, namespace, checkpoint].filter((part) => part !== "").join(" / ");
  return printable(`${where}: ${message}`);
}

/** Loads the importer. LangGraph's packages are optional peers, but a LangGraph user nearly always has them. */
async function load(): Promise<Importer> {
  try {
    return await import("../../../langgraph/import/index.ts");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new CommandFailure(
      exitCodes.failed,
      "UNSUPPORTED",
      "LangGraph's values are read with its own packages, which are not here: npm install @langchain/core @langchain/langgraph-checkpoint",
    );
  }
}
