import { expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import { Child } from "../../support/child-process.ts";
import { idsOf } from "../../support/collect.ts";
import { sqliteUnderTest } from "../../support/places.ts";

const putter = new URL("./putter.ts", import.meta.url);
const processes = 16;
const puts = 12;

test("on SQLite, every put of sixteen processes on one thread succeeds, and each is in the history once", async () => {
  const place = await sqliteUnderTest.make();
  const store = await open<{ log: readonly string[] }>(place.url, place.options);
  await store.thread("t").put({ id: "start", state: { log: ["start"] } });
  const children = Array.from(
    { length: processes },
    (_, index) => new Child(putter, String(place.url), JSON.stringify(place.options), `p${index}`, `${puts}`),
  );
  await Promise.all(children.map((child) => child.line()));
  for (const child of children) child.go();
  const answers = await Promise.all(children.map((child) => child.line()));
  expect(answers).toEqual(children.map(() => `${puts}`));
  expect(await Promise.all(children.map((child) => child.end()))).toEqual(children.map(() => 0));
  const thread = store.thread("t");
  const ids = (await idsOf(thread.history())).reverse();
  expect(new Set(ids).size).toBe(processes * puts + 1);
  expect((await thread.latest())?.state.log).toEqual(ids);
  expect(await store.verify()).toEqual({ ok: true, faults: [] });
  await store.close();
  await place.cleanup();
});
