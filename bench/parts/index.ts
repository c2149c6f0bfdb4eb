import type { Part } from "../context.ts";
import { codec } from "./codec.ts";
import { files } from "./files.ts";
import { floors } from "./floors.ts";
import { growth } from "./growth.ts";
import { langgraph, langgraphAgent, langgraphPostgres, langgraphSynced } from "./langgraph.ts";
import { memory } from "./memory.ts";
import { operations } from "./operations.ts";
import { postgres } from "./postgres.ts";
import { processesOnOneFile } from "./processes.ts";
import { profile } from "./profile.ts";
import { puts } from "./puts.ts";
import { reads } from "./reads.ts";
import { runtime } from "./runtime.ts";
import { start } from "./start.ts";
import { threadsAtOnce } from "./threads.ts";
import { upkeep } from "./upkeep.ts";
import { workloads } from "./workloads.ts";

/** In the order in which they run. */
export const parts: readonly Part[] = [
  growth,
  workloads,
  operations,
  codec,
  puts,
  reads,
  upkeep,
  postgres,
  threadsAtOnce,
  processesOnOneFile,
  langgraph,
  langgraphAgent,
  langgraphSynced,
  langgraphPostgres,
  runtime,
  files,
  memory,
  start,
  profile,
  floors,
];
