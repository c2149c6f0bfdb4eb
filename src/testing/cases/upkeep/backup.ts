import assert from "node:assert/strict";
import type { Store } from "../../../api/store.ts";
import type { BackupResult } from "../../../model/interface/results.ts";
import type { Case, Free } from "../../case.ts";
import { exact } from "../../support/exact.ts";
import { failsWith, isMisuse } from "../../support/failures.ts";
import { wholeHistory } from "../../support/snapshot.ts";

/** Makes a backup in memory. */
async function backup(
  store: Store<Free>,
  since?: string,
): Promise<BackupResult & { readonly lines: readonly string[] }> {
  const texts: string[] = [];
  const stream = {
    write(text: string, done: () => void): void {
      texts.push(text);
      done();
    },
    once(): void {},
    removeListener(): void {},
  };
  const result = await store.backup(stream, since === undefined ? {} : { since });
  return { ...result, lines: texts.join("").split("\n") };
}

export const backups: readonly Case[] = [
  {
    name: "backup: it has every thread, one since its cursor only changed threads, and both come back as they were",
    async run({ open, clock }) {
      const store = await open();
      for (const id of ["a", "b", "c"]) {
        const { id: at } = await store.thread(id).put({ state: { id }, attributes: { tenant: id } });
        await store.thread(id).putWrites(at, { task: "t", writes: [{ channel: "c", value: id }] });
      }
      const whole = await backup(store);
      exact([whole.threads, whole.checkpoints, whole.deleted], [3, 3, 0]);
      assert.ok(whole.bytes > 0 && whole.cursor !== "");
      const before = await wholeHistory(store.thread("a"));
      clock.advance(20_000);
      await store.thread("a").delete();
      await store.thread("b").put({ update: { set: { more: true } } });
      const next = await backup(store, whole.cursor);
      // Where other stores on the server hold changes back, their threads come once more.
      assert.ok(next.deleted >= 1 && next.threads >= 1 && next.threads <= 2);
      await failsWith("UNSUPPORTED", () => store.import(next.lines.map((line) => `${line}\n`)));
      await store.thread("b").delete();
      await store.import(whole.lines.map((line) => `${line}\n`));
      exact(await wholeHistory(store.thread("a")), before);
      exact((await store.thread("b").latest())?.state, { id: "b" });
      exact((await store.verify()).faults, []);
    },
  },
  {
    name: "backup: stats tell of the last one, and an unknown cursor or target is refused",
    async run({ open }) {
      const store = await open();
      exact((await store.stats()).backup, null);
      await store.thread("t").put({ state: {} });
      const { cursor, threads, consistent } = await backup(store);
      const told = (await store.stats()).backup;
      exact([told?.cursor, told?.threads, told?.consistent], [cursor, threads, consistent]);
      await isMisuse(() => store.backup(7 as never));
      await isMisuse(() => backup(store, "no cursor"));
      await failsWith("NOT_FOUND", () => store.restore("no-such.bundle"));
    },
  },
];
