import { expect, it } from "vitest";
import { open } from "../../../src/api/open.ts";
import { hashStrings } from "../../../src/engine/records/hash.ts";
import { namespaceKey } from "../../../src/model/address.ts";
import { idsOf } from "../../support/collect.ts";
import { campaignLocations } from "../../support/places.ts";

/** Found by trying some five thousand million: the first 64 bits of the SHA-1 of their keys are the same. */
const collided = [["662c942714b1c9bb"], ["7d07ef3dbaa1fa11"]];

it("the two namespaces of these tests collide in their hash", () => {
  const [one = [], other = []] = collided;
  expect(hashStrings(namespaceKey(one))).toEqual(hashStrings(namespaceKey(other)));
});

it.each(campaignLocations)(
  "namespaces whose hashes collide keep their heads when sealed together, on $name",
  async (backend) => {
    const place = await backend.make();
    const store = await open<{ n: number }>(place.url, place.options);
    for (let n = 0; n < 100; n++) {
      const namespace = n < 60 ? (collided[n % 2] ?? []) : [];
      await store.thread("t", { namespace }).put({ id: `c${n}`, state: { n } });
    }
    await store.close();
    const again = await open<{ n: number }>(place.url, place.options);
    await again.thread("t").fork({ into: "fork" });
    for (const id of ["t", "fork"]) {
      for (const [index, namespace] of collided.entries()) {
        const thread = again.thread(id, { namespace });
        expect((await thread.latest())?.state).toEqual({ n: 58 + index });
        expect(await idsOf(thread.history())).toHaveLength(30);
      }
      expect(await again.thread(id).namespaces()).toEqual([[], ...collided]);
    }
    expect(await again.verify()).toEqual({ ok: true, faults: [] });
    await again.close();
    await place.cleanup();
  },
);
