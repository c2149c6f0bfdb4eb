import assert from "node:assert/strict";
import type { BackendCase } from "./case.ts";
import { at, backendCase, fill, found, text, thread, using, values } from "./case.ts";

/** Size, compact, verify, close. */
export const upkeepCases: readonly BackendCase[] = [
  backendCase("size counts records and bytes by table", async (backend) => {
    await fill(backend, [
      [at("tail", 1, 1), text("é😀")],
      [at("tail", 2, 1), Uint8Array.from([0, 0, 0])],
      [at("write", 1, 1, 1), text("w")],
      [thread("é"), text("d")],
    ]);
    const { tables } = await backend.size();
    assert.deepEqual(tables.tail, { records: 2, bytes: Buffer.byteLength(text("é😀")) + 3 });
    assert.deepEqual(tables.write, { records: 1, bytes: text("w").length });
    assert.deepEqual(tables.directory, { records: 1, bytes: 2 + text("d").length });
    assert.deepEqual(tables.net, { records: 0, bytes: 0 });
    await backend.commit([{ deletes: [at("tail", 1, 1), thread("é")] }]);
    const after = (await backend.size()).tables;
    assert.deepEqual(after.tail, { records: 1, bytes: 3 });
    assert.deepEqual(after.directory, { records: 0, bytes: 0 });
  }),

  backendCase("compact keeps every record and the store in order", async (backend) => {
    await fill(
      backend,
      Array.from({ length: 500 }, (_, item) => [at("tail", 1, item), text("x".repeat(1000))] as const),
    );
    await backend.commit([{ deletes: [{ table: "tail", lineage: 1, group: 1, from: 10 }] }]);
    await backend.compact();
    await fill(backend, [[at("tail", 1, 10), text("after")]]);
    const rest = await found(backend, { scan: { table: "tail", lineage: 1, group: 1 } });
    assert.deepEqual(
      rest.map(({ value }) => value),
      [...Array.from({ length: 10 }, () => text("x".repeat(1000))), text("after")],
    );
    assert.deepEqual(await backend.verify(), []);
  }),

  backendCase("compact of an empty store does nothing", async (backend) => {
    await backend.compact();
    assert.deepEqual(await backend.verify(), []);
  }),

  {
    name: "what was committed is there when the store is opened again",
    requires: "durable",
    run: async (open) => {
      const keys = [at("meta", 1, 1), at("tail", 1, 2 ** 32 - 1), at("write", 1, 2, 3), thread("é")];
      await using(open, (backend) =>
        fill(
          backend,
          keys.map((key, index) => [key, index % 2 === 0 ? text(key) : Uint8Array.from([index, 0, 255])] as const),
        ),
      );
      await using(open, async (backend) => {
        const expected = keys.map((key, index) => (index % 2 === 0 ? text(key) : Uint8Array.from([index, 0, 255])));
        assert.deepEqual(await values(backend, ...keys), expected);
        assert.deepEqual(
          await backend.commit([{ deletes: [keys[0] as never], puts: [{ key: at("net", 1, 1), value: text(1) }] }]),
          [true],
        );
      });
      await using(open, async (backend) => {
        assert.deepEqual(await values(backend, keys[0] as never, at("net", 1, 1)), [undefined, text(1)]);
      });
    },
  },

  {
    name: "a deleted record is gone after compact and reopening",
    requires: "durable",
    run: async (open) => {
      await using(open, async (backend) => {
        await fill(backend, [
          [at("tail", 1, 1), text("gone")],
          [at("tail", 1, 2), text("kept")],
        ]);
        await backend.commit([{ deletes: [at("tail", 1, 1)] }]);
        await backend.compact();
      });
      await using(open, async (backend) => {
        assert.deepEqual(await values(backend, at("tail", 1, 1), at("tail", 1, 2)), [undefined, text("kept")]);
        assert.deepEqual(await backend.verify(), []);
      });
    },
  },
];
