import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { open, type Store } from "../../src/index.ts";
import { collect } from "../support/collect.ts";
import { folderOfTest } from "../support/folders-of-tests.ts";

const encryption = { current: "one", keys: { one: randomBytes(32) } };
const hiding = { encryption: { ...encryption, hideIds: true } };

async function fill(store: Store<{ n: number }>): Promise<void> {
  const thread = store.thread("alice@example.com");
  for (let n = 0; n < 3; n += 1) await thread.put({ state: { n }, workflow: "chat", attributes: { tenant: "acme" } });
  await thread.fork({ into: "alice@example.com/fork", at: { step: 1 } });
}

test.each([
  ["is not encrypted", {}],
  ["shows its ids", { encryption }],
])(
  "the ids of a store that %s are hidden by restoring a backup into a new store, and not otherwise",
  async (_, options) => {
    const folder = folderOfTest();
    const url = `sqlite:${join(folder, "old.db")}`;
    const backup = join(folder, "backup.bundle");
    {
      await using store = await open<{ n: number }>(url, { fsync: "normal", ...options });
      await fill(store);
      await store.backup(backup);
    }
    {
      await using refused = await open(url, hiding);
      for (const call of [() => refused.thread("x").put({ state: {} }), () => refused.thread("x").latest()]) {
        await expect(call()).rejects.toThrow(
          expect.objectContaining({ code: "KEY", message: expect.stringMatching(/restore a backup of .* into a new/) }),
        );
      }
      await expect(open(url, { encryption: { ...hiding.encryption, migrating: true } })).rejects.toThrow(TypeError);
    }
    const place = join(folder, "hidden");
    const hidden = await open<{ n: number }>(`file:${place}`, hiding);
    await hidden.restore(backup);
    const found = await collect(hidden.threads({ where: { tenant: "acme" } }));
    expect(found.map(({ id }) => id).sort()).toEqual(["alice@example.com", "alice@example.com/fork"]);
    expect((await hidden.thread("alice@example.com/fork").latest())?.state).toEqual({ n: 1 });
    expect(await hidden.verify()).toEqual({ ok: true, faults: [] });
    await hidden.close();
    for (const name of readdirSync(place)) {
      const bytes = readFileSync(join(place, name));
      for (const word of ["alice", "acme", "chat"]) expect(bytes.includes(word), `${word} in ${name}`).toBe(false);
    }
  },
);
