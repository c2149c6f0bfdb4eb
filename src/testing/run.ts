import type { Store } from "../api/store.ts";
import type { Capabilities } from "../backend.ts";
import type { OpenOptions } from "../model/interface/store-options.ts";
import type { Case, CaseContext, Free, ManualClock } from "./case.ts";

/** A fresh, empty location for a single case. */
export interface Location {
  /** Opens a store there. Called again, it opens the same location again, even while the first store is still open. */
  open<State>(options: OpenOptions): Promise<Store<State>>;
  /** Removes the location. All its stores are closed by then. */
  cleanup(): Promise<void>;
}

/**
 * Returns the capabilities that a case requires and the backend lacks: the reason to skip it, or an empty list.
 *
 * @example
 * test.skipIf(missing(testCase, capabilities).length > 0)(testCase.name, () => runCase(testCase, capabilities, location));
 */
export function missing(testCase: Case, capabilities: Capabilities): readonly (keyof Capabilities)[] {
  return (testCase.requires ?? []).filter((capability) => !capabilities[capability]);
}

/**
 * Runs a case at a location, closes the stores it opened and removes the location.
 *
 * @example
 * for (const testCase of cases)
 *   test(testCase.name, { skip: missing(testCase, capabilities).join() || false }, async () =>
 *     runCase(testCase, capabilities, await makeLocation()));
 */
export async function runCase(testCase: Case, capabilities: Capabilities, location: Location): Promise<void> {
  const clock = manualClock(1_750_000_000_000);
  const opened: { close(): Promise<void> }[] = [];
  const context: CaseContext = {
    capabilities,
    clock,
    async open<State = Free>(options?: OpenOptions): Promise<Store<State>> {
      const store = await location.open<State>({ clock: () => clock.now(), ...options });
      opened.push(store);
      return store;
    },
  };
  try {
    await testCase.run(context);
  } finally {
    for (const store of opened) await store.close();
    await location.cleanup();
  }
}

function manualClock(start: number): ManualClock {
  let now = start;
  return {
    now: () => now,
    advance(milliseconds) {
      now += milliseconds;
    },
  };
}
