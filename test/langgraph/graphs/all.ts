import { agent } from "./agent.ts";
import { deltas } from "./delta.ts";
import { durabilities, streaming } from "./durability.ts";
import { functional } from "./functional.ts";
import { breakpoints, interrupts } from "./interrupts.ts";
import { failingBranch, fanOut } from "./parallel.ts";
import type { Scenario } from "./scenario.ts";
import { rememberingSubgraph, subgraph } from "./subgraphs.ts";
import { bulkUpdate, replay, updateOfHalfAStep, updateOfOlder } from "./time-travel.ts";

export const scenarios: readonly Scenario[] = [
  agent,
  interrupts,
  breakpoints,
  updateOfOlder,
  updateOfHalfAStep,
  replay,
  bulkUpdate,
  failingBranch,
  fanOut,
  subgraph,
  rememberingSubgraph,
  ...durabilities,
  streaming,
  ...deltas,
  functional,
];
