import type { Part } from "../context.ts";
import { growth } from "./growth.ts";
import { operations } from "./operations.ts";
import { postgres } from "./postgres.ts";
import { puts } from "./puts.ts";
import { reads } from "./reads.ts";
import { upkeep } from "./upkeep.ts";
import { workloads } from "./workloads.ts";

/** In the order in which they run. */
export const parts: readonly Part[] = [growth, workloads, operations, puts, reads, upkeep, postgres];
