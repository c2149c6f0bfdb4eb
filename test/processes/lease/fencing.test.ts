import { describe, expect, test } from "vitest";
import { open } from "../../../src/api/open.ts";
import { idsOf } from "../../support/collect.ts";
import { locations } from "../../support/places.ts";
import { Holder } from "./process.ts";

const shared = locations.filter(({ capabilities }) => capabilities.processes);

describe.each(shared)("a lease on $name", (backend) => {
  test("a lease fences a process that slept while another took over: the history is the successor's", async () => {
    const place = await backend.make();
    const store = await open(place.url, place.options);
    await store.thread("t").put({ id: "start", state: {} });
    const first = await Holder.start(place, "first");
    const second = await Holder.start(place, "second");
    try {
      const { epoch } = await first.ask("acquire 300");
      expect(await first.ask("put 1")).toMatchObject({ id: "first1", parent: "start" });

      first.stop();
      first.tell("put 2");
      const taken = await second.ask("acquire 60000");
      expect(taken.epoch).toBeGreaterThan(Number(epoch));
      for (const n of [1, 2, 3]) expect(await second.ask(`put ${n}`)).toMatchObject({ id: `second${n}` });

      first.continue();
      expect(await first.next()).toEqual({ failed: "FENCED" });
      expect(await first.ask("put 3")).toEqual({ failed: "FENCED" });
      expect(await first.ask("write")).toEqual({ failed: "FENCED" });
      expect(await first.ask("renew")).toEqual({ failed: "FENCED" });
      expect(await second.ask("put 4")).toMatchObject({ id: "second4", parent: "second3" });

      const thread = store.thread("t");
      expect(await idsOf(thread.history())).toEqual(["second4", "second3", "second2", "second1", "first1", "start"]);
      expect(await thread.writes("start")).toEqual([]);
      await expect(thread.put({ state: {} })).rejects.toMatchObject({ code: "BUSY", holder: "second" });
    } finally {
      await first.end();
      await second.end();
      await store.close();
      await place.cleanup();
    }
  });

  test("a lease passes from process to process with a higher epoch each time, and only the last may put", async () => {
    const place = await backend.make();
    const holders = await Promise.all(["a", "b", "c"].map((name) => Holder.start(place, name)));
    try {
      const epochs: number[] = [];
      for (const holder of holders) {
        epochs.push(Number((await holder.ask("acquire 30")).epoch));
        expect(await holder.ask("put 1")).toMatchObject({ step: epochs.length - 1 });
      }
      expect(epochs).toEqual([...new Set(epochs)].sort((left, right) => left - right));
      for (const holder of holders.slice(0, 2)) expect(await holder.ask("put 2")).toEqual({ failed: "FENCED" });
      expect(await holders[2]?.ask("put 2")).toMatchObject({ id: "c2", parent: "c1" });
    } finally {
      for (const holder of holders) await holder.end();
      await place.cleanup();
    }
  });
});
