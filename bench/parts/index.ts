import type { Part } from "../harness/context.ts";
import { files } from "./files.ts";
import { floors } from "./floors.ts";
import { langgraph, langgraphAgent, langgraphPostgres, langgraphSynced } from "./langgraph.ts";
import { postgres } from "./postgres.ts";
import { processesOnOneFile } from "./processes.ts";
import { profile } from "./profile.ts";
import { runtime } from "./runtime.ts";
import { codec } from "./store/codec.ts";
import { growth } from "./store/growth.ts";
import { memory } from "./store/memory.ts";
import { operations } from "./store/operations.ts";
import { puts } from "./store/puts.ts";
import { reads } from "./store/reads.ts";
import { start } from "./store/start.ts";
import { threadsAtOnce } from "./store/threads.ts";
import { upkeep } from "./store/upkeep.ts";
import { workloads } from "./store/workloads.ts";

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
