import type { State } from "../workloads/workload.ts";
import type { System } from "./system.ts";

/** Serialises the whole state and stores nothing. */
export const stringify: System = {
  name: "JSON.stringify and JSON.parse of the state",
  home: "none",
  kind: "floor",
  wholeUpTo: 100,
  async open() {
    let text = "";
    return {
      thread: () => ({
        begin: () => {},
        step({ state }) {
          text = JSON.stringify(state);
        },
        latest: () => JSON.parse(text) as State,
      }),
      bytes: async () => undefined,
      written: async () => undefined,
      close: async () => {},
    };
  },
};
