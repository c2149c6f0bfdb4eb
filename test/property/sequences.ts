import fc from "fast-check";
import { open } from "../../src/api/open.ts";
import { exact } from "../../src/testing/index.ts";
import type { BackendUnderTest } from "../support/places.ts";
import { copying, forking } from "./commands/branching.ts";
import type { Commands } from "./commands/command.ts";
import {
  bundling,
  compactBoth,
  compacting,
  comparing,
  reopening,
  sleeping,
  swapping,
  waiting,
} from "./commands/housekeeping.ts";
import { leasing } from "./commands/leasing.ts";
import { describing, labelling, writing } from "./commands/marking.ts";
import { putElsewhere, putMany, putState, putUpdate } from "./commands/put.ts";
import { deletingCheckpoints, deletingRun, deletingThread, pruning } from "./commands/removing.ts";
import { stepping } from "./commands/stepping.ts";
import { compareAll } from "./compare.ts";
import type { Free } from "./states.ts";
import type { Model, System } from "./system.ts";

const weighted: readonly (readonly [number, Commands])[] = [
  [8, putState],
  [8, putUpdate],
  [2, putMany],
  [2, putElsewhere],
  [4, forking],
  [1, copying],
  [2, pruning],
  [2, deletingCheckpoints],
  [1, deletingRun],
  [1, deletingThread],
  [2, labelling],
  [3, writing],
  [2, describing],
  [4, stepping],
  [1, compacting],
  [1, reopening],
  [2, swapping],
  [2, waiting],
  [1, sleeping],
  [1, bundling],
  [3, leasing],
  [3, comparing],
];

const anyCommand = weighted.flatMap(([weight, command]) => Array<typeof command>(weight).fill(command));

/** With room for every tree, for a few, for outlines and for none: what is known must not differ from what is stored. */
const settings = fc.record({
  cacheBytes: fc.constantFrom(0, 4_000, 10_000, 2 ** 26),
  compression: fc.constantFrom("none" as const, "none" as const, "deflate" as const),
  // Small packs let a short sequence meet all that can happen to sealed history.
  packRows: fc.constantFrom(3, 4, 64),
  packBytes: fc.constantFrom(600, 2 ** 22, 2 ** 22),
  // Removals of small states take rows out of storage at once, unless even a small frame is too much.
  rewriteBytes: fc.constantFrom(1, 1, 300, 2 ** 14),
  // From 20 characters on nearly everything in these states is a value of its own.
  largeValues: fc.constantFrom({}, { from: 20 }, { from: 60 }),
});

export interface Campaign {
  readonly sequences: number;
  readonly commands: number;
  readonly seed?: number;
  /** Told how many sequences have passed. */
  progress?(done: number): void;
}

/**
 * Does random sequences of everything a store can do to a real store and to a naive model that keeps whole copies, and
 * fails, with the shortest sequence found, where they differ. Bounded by count, never by time.
 */
export async function matchesTheModel(backend: BackendUnderTest, campaign: Campaign): Promise<void> {
  let done = 0;
  const property = fc.asyncProperty(
    fc.commands(anyCommand, { maxCommands: campaign.commands, size: "max" }),
    settings,
    async (commands, setting) => {
      const place = await backend.make();
      const model: Model = { threads: new Map(), empty: new Map(), leases: new Map(), now: 1_750_000_000_000, made: 0 };
      const options = { ...place.options, ...setting, clock: () => model.now };
      const openStore = () => open<Free>(place.url, options);
      let other = backend.capabilities.processes || place.shared ? await openStore() : undefined;
      const real: System = {
        store: await openStore(),
        leases: new Map(),
        async reopen() {
          real.leases.clear();
          await real.store.close();
          real.store = await openStore();
        },
        swap() {
          if (other !== undefined) [real.store, other] = [other, real.store];
        },
      };
      try {
        await fc.asyncModelRun(() => ({ model, real }), commands);
        await compareAll(model, real.store);
        if (other !== undefined) {
          real.swap();
          await compareAll(model, real.store);
        }
        await real.reopen();
        await compareAll(model, real.store);
        await compactBoth(model, real);
        await compareAll(model, real.store);
        exact(await real.store.verify(), { ok: true, faults: [] }, "verify");
      } finally {
        await real.store.close();
        await other?.close();
        await place.cleanup();
      }
      campaign.progress?.(++done);
    },
  );
  await fc.assert(property, {
    numRuns: campaign.sequences,
    ...(campaign.seed === undefined ? {} : { seed: campaign.seed }),
  });
}
