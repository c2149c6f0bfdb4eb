import { Place } from "../environment/place.ts";
import { systemsOn } from "../systems/index.ts";
import type { Home } from "../systems/system.ts";

/** Opens a home that another process filled, and reads the latest state of its thread: how long both took together. */
const { system: name, home } = JSON.parse(process.argv[2] as string) as { system: string; home: Home };
const place = new Place(async () => home.url);
const system = systemsOn(place).find((one) => one.name === name);
if (!system) throw new Error(`There is no system ${name}.`);
// Modules that a system loads when it is first used are no part of reading.
const unused = await system.open({
  ...home,
  path: `${home.path}-unused`,
  schema: home.schema && `${home.schema}_unused`,
});
if (system.kind === "threadmark") await unused.thread("none").latest?.();
await unused.close();
const start = performance.now();
const opened = await system.open(home);
const state = await opened.thread("measured").latest?.();
const milliseconds = performance.now() - start;
await opened.close();
await place.remove();
const { messages } = state as { messages: unknown[] };
process.stdout.write(JSON.stringify({ milliseconds, messages: messages.length }));
