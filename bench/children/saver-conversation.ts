import { checkState } from "../systems/check-state.ts";
import { History } from "../systems/measured-thread.ts";
import { memorySaver, sqliteSaver, threadmarkSaver } from "../systems/savers.ts";
import { peakMemory } from "../systems/sizes.ts";
import { conversation } from "../workloads/conversation.ts";

/** A whole conversation on a saver, in a process of its own: how much memory that took at most. */
const input = JSON.parse(process.argv[2] as string) as { system: string; steps: number; path: string };
const noServer = (): never => {
  throw new Error("There is no Postgres server here.");
};
const systems = [memorySaver, sqliteSaver(), threadmarkSaver("SQLite", noServer)];
const system = systems.find(({ name }) => name === input.system);
if (!system) throw new Error(`There is no system ${input.system}.`);
const idle = peakMemory();
const opened = await system.open({ path: input.path, url: "", schema: "", fsync: "normal" });
const history = new History(opened, conversation);
await history.begin();
const { total } = await history.advance(input.steps, 20_000);
if (history.thread.latest) checkState(await history.thread.latest(), history.state, system.name);
await opened.close();
const peak = peakMemory();
process.stdout.write(JSON.stringify({ peak, idle, steps: history.steps, milliseconds: total }));
