import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { open } from "../../src/index.ts";
import { sharedMemory } from "../../src/testing/index.ts";

const one = randomBytes(32);
const two = randomBytes(32);
const encryption = { current: "one", keys: { one } };

function coded(code: string) {
  return expect.objectContaining({ code });
}

describe("the keys of a store", () => {
  test("a key may be bytes, 64 hexadecimal digits or base64", async () => {
    const place = sharedMemory();
    await (await open(place, { encryption })).thread("t").put({ state: { n: 1 } });
    for (const key of [one.toString("hex"), one.toString("base64"), one.toString("base64url"), new Uint8Array(one)]) {
      const store = await open<{ n: number }>(place, { encryption: { current: "one", keys: { one: key } } });
      expect((await store.thread("t").latest())?.state).toEqual({ n: 1 });
    }
  });

  test("a key of another shape, a missing current key and unknown fields are a TypeError that shows no key", async () => {
    const short = randomBytes(16).toString("hex");
    for (const wrong of [
      {},
      { current: "one" },
      { current: "one", keys: { one: short } },
      { current: "one", keys: { one: randomBytes(31) } },
      { current: "two", keys: { one } },
      { current: "", keys: { "": one } },
      { keys: { one } },
      { ...encryption, wrap: () => one, unwrap: () => one },
      { wrap: () => one },
      { ...encryption, key: one },
      { ...encryption, migrating: "yes" },
    ]) {
      const refusal = await open("memory:", { encryption: wrong as never }).then(
        () => "opened",
        (error: unknown) => error,
      );
      expect(refusal).toBeInstanceOf(TypeError);
      expect(String(refusal)).not.toContain(short);
    }
  });

  test("a wrong key, a missing key and no key are KEY, and nothing is written", async () => {
    const place = sharedMemory();
    await (await open(place, { encryption })).thread("t").put({ state: { n: 1 } });
    const before = await place.size();
    for (const options of [
      { encryption: { current: "one", keys: { one: two } } },
      { encryption: { current: "two", keys: { two } } },
      {},
    ]) {
      for (const use of [
        async () => (await open(place, options)).thread("t").latest(),
        async () => (await open(place, options)).thread("t").put({ state: {} }),
        async () => (await open(place, options)).thread("new").put({ state: {} }),
        async () => (await open(place, options)).thread("new").acquire(),
        async () => (await open(place, options)).thread("t").fork({ into: "f" }),
        async () => (await open(place, options)).verify(),
        async () => (await open(place, options)).compact(),
        async () => (await (await open(place, options)).threads().next()).value,
      ]) {
        await expect(use()).rejects.toThrow(coded("KEY"));
      }
    }
    expect(await place.size()).toEqual(before);
  });

  test("two stores that begin an empty place at once use the same keys", async () => {
    const place = sharedMemory();
    const stores = [await open<{ n: number }>(place, { encryption }), await open<{ n: number }>(place, { encryption })];
    await Promise.all(stores.map((store) => store.thread("t").latest()));
    await Promise.all(stores.map((store, index) => store.thread(`t${index}`).put({ state: { n: index } })));
    for (const store of stores) {
      expect((await store.thread("t0").latest())?.state).toEqual({ n: 0 });
      expect((await store.thread("t1").latest())?.state).toEqual({ n: 1 });
      expect(await store.verify()).toEqual({ ok: true, faults: [] });
    }
  });

  test("a key service wraps and unwraps the keys, and its failure is KEY with its cause", async () => {
    const place = sharedMemory();
    const calls: string[] = [];
    const mask = (bytes: Uint8Array): Uint8Array => bytes.map((byte) => byte ^ 0x5a);
    const service = {
      current: "projects/1/keys/2",
      wrap: async (key: Uint8Array, name: string) => {
        calls.push(`wrap ${name}`);
        return mask(key);
      },
      unwrap: async (key: Uint8Array, name: string) => {
        calls.push(`unwrap ${name}`);
        return mask(key);
      },
    };
    await (await open(place, { encryption: service })).thread("t").put({ state: { n: 1 } });
    expect(calls).toEqual([`wrap ${service.current}`, `wrap ${service.current}`]);
    const store = await open<{ n: number }>(place, { encryption: service });
    expect((await store.thread("t").latest())?.state).toEqual({ n: 1 });
    expect(calls.slice(2)).toEqual([`unwrap ${service.current}`, `unwrap ${service.current}`]);
    const failing = { ...service, unwrap: () => Promise.reject(new Error("no route to host")) };
    await expect((await open(place, { encryption: failing })).thread("t").latest()).rejects.toThrow(
      expect.objectContaining({ code: "KEY", cause: new Error("no route to host") }),
    );
  });

  test("a lineage's key goes with its last thread", async () => {
    const place = sharedMemory();
    const store = await open(place, { encryption });
    await store.thread("a").put({ state: { n: 1 } });
    const metas = async () => (await place.size()).tables.meta.records;
    await store.thread("a").fork({ into: "b" });
    await store.thread("a").delete();
    expect((await store.thread("b").latest())?.state).toEqual({ n: 1 });
    await store.thread("b").delete();
    // The wrapped key is in the meta records, and there only.
    expect(await metas()).toBe(0);
  });
});
