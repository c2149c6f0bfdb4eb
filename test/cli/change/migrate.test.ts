import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { folderOfTest } from "../../support/folders-of-tests.ts";
import { records, storeWith, threadmark } from "../run.ts";

function app(text: string): string {
  const path = join(folderOfTest(), `schema-${Math.random().toString(36).slice(2)}.mjs`);
  writeFileSync(path, text);
  return path;
}

const fits = `export const schema = { version: 2, migrate: { 1: ({ name, ...rest }) => ({ ...rest, names: [name.trim()] }) } };`;

function filled(): Promise<string> {
  return storeWith(async (store) => {
    const thread = store.thread("good");
    const { id } = await thread.put({ state: { name: " ada " }, next: ["a", "b"], workflow: "chat" });
    await thread.putWrites(id, { task: "0.0", node: "a", writes: [{ channel: "x", value: 1 }] });
    await store.thread("bad").put({ state: { name: 7 } });
    await store.thread("bad").put({ state: { name: "bob" } });
  });
}

test("migrate --check tries every head, and --history every checkpoint, and writes nothing", async () => {
  const url = await filled();
  const heads = await threadmark(["migrate", "--check", "--app", app(fits), url, "--json"]);
  expect([heads.code, records(heads.out)]).toEqual([0, [{ checked: 2, old: 2, written: 0, faults: [] }]]);
  const all = await threadmark(["migrate", "--check", "--history", "--app", app(fits), url, "--json"]);
  expect(all.code).toBe(5);
  expect(records(all.out)).toMatchObject([{ checked: 3, old: 3, faults: [{ thread: "bad", version: 0 }] }]);
  const told = await threadmark(["migrate", "--check", "--history", "--app", app(fits), url]);
  expect(told.out).toMatch(
    /^bad: Thread "bad": the state of checkpoint .* migrate\[1\] threw: name\.trim is not a function/,
  );
  expect(told.out).toContain("3 checkpoints looked at, 2 of 3 older states can be migrated.");
  const store = await open(url);
  expect(await store.thread("good").count()).toBe(1);
  await store.close();
});

test("migrate --write puts migrated heads, with what was pending and finished", async () => {
  const url = await filled();
  const written = await threadmark(["migrate", "--write", "--app", app(fits), url, "--json"]);
  expect([written.code, records(written.out)]).toEqual([0, [{ checked: 2, old: 2, written: 2, faults: [] }]]);
  const store = await open(url);
  const head = await store.thread("good").tuple();
  expect(head?.checkpoint).toMatchObject({
    state: { names: ["ada"] },
    stateVersion: 2,
    source: "update",
    workflow: "chat",
    next: [
      { node: "a", task: "0.0" },
      { node: "b", task: "0.1" },
    ],
  });
  expect(head?.writes).toMatchObject([{ task: "0.0", channel: "x", value: 1 }]);
  await store.close();
  const again = await threadmark(["migrate", "--write", "--app", app(fits), url, "--json"]);
  expect(records(again.out)).toEqual([{ checked: 2, old: 0, written: 0, faults: [] }]);
});

test("migrate says what is missing or wrong before it opens the store", async () => {
  const url = await filled();
  const run = async (...parameters: string[]): Promise<[number, string]> => {
    const { code, err } = await threadmark(["migrate", ...parameters, url]);
    return [code, err];
  };
  expect(await run("--check")).toEqual([2, "threadmark: Name the module with the schema: --app schema.ts.\n"]);
  expect(await run("--app", app(fits))).toEqual([2, "threadmark: Say what to do: --check or --write.\n"]);
  expect(await run("--check", "--write", "--app", app(fits))).toEqual([
    2,
    "threadmark: Say what to do: --check or --write.\n",
  ]);
  expect((await run("--check", "--app", "nowhere.mjs"))[0]).toBe(3);
  expect((await run("--check", "--app", app("export const other = 1;")))[1]).toContain(
    "exports neither schema nor a default",
  );
  expect((await run("--check", "--app", app("export default { version: 0 };")))[1]).toContain("schema.version");
  expect((await run("--check", "--app", app("throw new Error('broken');")))[1]).toContain("cannot be loaded: broken");
});
