import { expect, it } from "vitest";
import { open } from "../../../src/api/open.ts";
import { locations } from "../../support/places.ts";

interface State {
  readonly list: readonly { readonly id: number; readonly text: string }[];
}

it.each(locations)("frozen objects are stored as any others, however they change later, on $name", async (backend) => {
  const place = await backend.make();
  const store = await open<State>(place.url, place.options);
  const thread = store.thread("t");
  let list: State["list"] = [];
  const expected: [string, State["list"]][] = [];
  for (let n = 0; n < 150; n++) {
    const added = Object.freeze({ id: n, text: `text ${n}` });
    const appended = n > 0 && n % 2 === 0;
    if (!appended)
      list = list.map((each, index) => (index % 5 === n % 5 ? Object.freeze({ ...each, text: `at ${n}` }) : each));
    list = [...list, added];
    const input = appended ? { update: { append: { list: [added] } } } : { state: { list } };
    expected.push([(await thread.put(input as never)).id, list]);
  }
  for (const [id, before] of expected) {
    const read = (await thread.get(id))?.state.list;
    expect(read).toEqual(before);
    expect(read?.some(Object.isFrozen)).toBe(false);
  }
  await thread.prune({ keepLast: 20 });
  await store.compact();
  const again = await open<State>(place.url, place.options);
  for (const [id, before] of expected.slice(-20)) {
    expect((await again.thread("t").get(id))?.state.list).toEqual(before);
  }
  expect(await again.verify()).toMatchObject({ ok: true });
  await store.close();
  await again.close();
  await place.cleanup();
});
