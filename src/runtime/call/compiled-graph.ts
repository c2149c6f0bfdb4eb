import type { Store } from "../../api/store.ts";
import type { Clock } from "../control/clock.ts";
import type { Definition } from "../graph/definition.ts";
import type { Values } from "../graph/reducers.ts";
import type { LeaseOptions } from "../run/lease-keeper.ts";
import type { WalkOptions } from "./options.ts";

/** A checked graph with everything that `compile` was given. */
export interface CompiledGraph {
  readonly definition: Definition;
  readonly store: Store<Values> | undefined;
  readonly lease: LeaseOptions;
  readonly clock: Clock | undefined;
  readonly defaults: WalkOptions;
}
