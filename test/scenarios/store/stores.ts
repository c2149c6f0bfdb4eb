import { afterEach, describe } from "vitest";
import { open } from "../../../src/api/open.ts";
import type { Store } from "../../../src/api/store.ts";
import type { OpenOptions } from "../../../src/model/interface/store-options.ts";
import { type BackendUnderTest, campaignLocations, type Place } from "../../support/places.ts";

// biome-ignore lint/suspicious/noExplicitAny: each case puts states of its own shape and looks into them freely.
export type Free = Record<string, any>;

/** Makes stores for a case, on the backend it runs on; they are closed after it. */
export interface Stores {
  readonly backend: BackendUnderTest;
  /** A store at a fresh place. */
  fresh<State = Free>(options?: OpenOptions): Promise<Store<State>>;
  /** A store at the place of the last `fresh`, once more. */
  again<State = Free>(options?: OpenOptions): Promise<Store<State>>;
}

/** Runs a system's cases on every backend. */
export function onEveryBackend(system: string, cases: (stores: Stores) => void): void {
  describe.each(campaignLocations)(`${system} on $name`, (backend) => {
    const places: Place[] = [];
    const opened: { close(): Promise<void> }[] = [];
    const at = async <State>(place: Place, options: OpenOptions | undefined): Promise<Store<State>> => {
      const store = await open<State>(place.url, { ...place.options, ...options });
      opened.push(store);
      return store;
    };
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
      for (const place of places.splice(0)) await place.cleanup();
    });
    cases({
      backend,
      async fresh<State = Free>(options?: OpenOptions): Promise<Store<State>> {
        const place = await backend.make();
        places.push(place);
        return at<State>(place, options);
      },
      async again<State = Free>(options?: OpenOptions): Promise<Store<State>> {
        const place = places.at(-1) ?? (await backend.make());
        return at<State>(place, options);
      },
    });
  });
}
