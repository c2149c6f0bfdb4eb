import { describe, expect, test } from "vitest";
import { locations } from "../../support/places.ts";
import { keepsReferredValues } from "./values.ts";

/** Where a commit costs more, fewer: the long campaign kills thousands. */
const kills: Readonly<Record<string, number>> = { sqlite: 20, file: 8, postgres: 4 };
const durable = locations.filter(({ capabilities }) => capabilities.durable);

describe.each(durable)("a store on $name", (backend) => {
  const count = kills[backend.name] ?? 20;

  test(`a store on ${backend.name} refers to no large value that is gone after ${count} writers were killed`, async () => {
    expect(await keepsReferredValues(backend, count, false)).toBeGreaterThanOrEqual(count);
  }, 1_200_000);
});

test("no record names an object outside the store that is gone after 10 writers were killed", async () => {
  const [sqlite] = durable.filter(({ name }) => name === "sqlite");
  if (sqlite) expect(await keepsReferredValues(sqlite, 10, true)).toBeGreaterThanOrEqual(10);
}, 1_200_000);
