import { type Command, Option } from "commander";
import type { Store } from "../../../api/store.ts";
import type { CheckpointInfo } from "../../../model/checkpoint.ts";
import { effectiveVersion, type StateSchemas, StateVersions } from "../../../model/state-versions.ts";
import { checkStateSchemas } from "../../../model/validation/store/state-schema.ts";
import { CommandFailure, exitCodes, failureOf, usage } from "../../failure.ts";
import { exportOf, importApp } from "../../input/app-module.ts";
import { declare } from "../../input/declare.ts";
import { printable } from "../../output/printable.ts";
import { ProgressLine } from "../../output/progress.ts";
import { countText } from "../../output/quantities.ts";
import type { Session, State } from "../../session.ts";

interface Options {
  readonly app?: string;
  readonly check?: boolean;
  readonly write?: boolean;
  readonly history?: boolean;
}

/** A checkpoint whose state cannot be migrated. */
interface Fault {
  readonly thread: string;
  readonly checkpoint: string;
  readonly version: number;
  readonly message: string;
}

interface Report {
  checked: number;
  old: number;
  written: number;
  readonly faults: Fault[];
}

export function migrateCommand(program: Command, session: Session): void {
  declare<Options>(program, session, {
    name: "migrate",
    summary: "try the migrations of a program's schema on every thread, or write the migrated heads",
    options: [
      new Option("--app <file>", "the module that exports the schema, as `schema` or by default"),
      new Option("--check", "read every head as the newest version has it; write nothing"),
      new Option("--history", "with --check: every checkpoint, nested graphs too"),
      new Option("--write", "put the migrated state on top of every older head"),
    ],
    examples: [
      "threadmark migrate --check --app schema.ts sqlite:agent.db",
      "threadmark migrate --write --app schema.ts sqlite:agent.db",
    ],
    async run({ url, options: { app, check, write, history } }) {
      if (app === undefined) throw usage("Name the module with the schema: --app schema.ts.");
      if (check === write) throw usage("Say what to do: --check or --write.");
      if (write && history) throw usage("--write puts heads; --history goes with --check.");
      const schema = exportOf(await importApp(app), "schema", app);
      checkStateSchemas(schema, "schema");
      const report = await session.withStore(
        url,
        (store) =>
          ProgressLine.during(session, "migrating, threads:", (update) =>
            migrate(store, schema as StateSchemas, { write: write === true, history: history === true, update }),
          ),
        write !== true,
        undefined,
        schema as StateSchemas,
      );
      print(session, report, write === true);
      if (report.faults.length > 0) {
        const count = countText(report.faults.length, "checkpoint");
        throw new CommandFailure(exitCodes.faulty, "FAULTY", `${count} cannot be migrated.`);
      }
    },
  });
}

interface Work {
  readonly write: boolean;
  readonly history: boolean;
  readonly update: (done: number) => void;
}

async function migrate(store: Store<State>, schema: StateSchemas, { write, history, update }: Work): Promise<Report> {
  const versions = new StateVersions(schema);
  const report: Report = { checked: 0, old: 0, written: 0, faults: [] };
  const isOlder = ({ namespace, workflow, stateVersion }: CheckpointInfo): boolean => {
    const version = versions.versionFor({ workflow, isRoot: namespace.length === 0 });
    return version !== undefined && effectiveVersion(stateVersion) !== version;
  };
  let done = 0;
  for await (const { id } of store.threads()) {
    update(done);
    done += 1;
    const namespaces = history ? await store.thread(id).namespaces() : [[]];
    for (const namespace of namespaces) {
      const thread = store.thread(id, { namespace });
      for await (const info of thread.history(history ? {} : { limit: 1 })) {
        report.checked += 1;
        if (!isOlder(info)) continue;
        report.old += 1;
        try {
          const tuple = await thread.tuple(info.id);
          if (!write || tuple === undefined) continue;
          // Loaded here, so that no other command pays for the runtime.
          const { editState } = await import("../../../runtime/outside/edit-state.ts");
          await editState(store, thread, tuple, tuple.checkpoint.state);
          report.written += 1;
        } catch (error) {
          const { message } = failureOf(error);
          report.faults.push({ thread: id, checkpoint: info.id, version: info.stateVersion, message });
        }
      }
    }
  }
  return report;
}

function print({ terminal, json }: Session, report: Report, wrote: boolean): void {
  const { checked, old, written, faults } = report;
  if (json) {
    terminal.json({ checked, old, written, faults });
    return;
  }
  for (const { thread, message } of faults) {
    terminal.line(`${terminal.style("red", printable(thread))}: ${printable(message)}`);
  }
  const fit = old - faults.length;
  const did = wrote
    ? `${countText(written, "head")} written`
    : `${fit} of ${countText(old, "older state")} can be migrated`;
  terminal.line(`${countText(checked, "checkpoint")} looked at, ${did}.`);
}
