import type { Part } from "../harness/context.ts";
import { files } from "./files.ts";
import { finding } from "./finding.ts";
import { floors } from "./floors.ts";
import { langgraph, langgraphAgent, langgraphPostgres, langgraphSynced } from "./langgraph.ts";
import { langgraphDelta } from "./langgraph-delta.ts";
import { postgres } from "./postgres.ts";
import { processesOnOneFile } from "./processes.ts";
import { profile } from "./profile.ts";
import { redis } from "./redis.ts";
import { runtime } from "./runtime.ts";
import { screen } from "./screen.ts";
import { codec } from "./store/codec.ts";
import { encryption } from "./store/encryption.ts";
import { growth } from "./store/growth.ts";
import { memory } from "./store/memory.ts";
import { operations } from "./store/operations.ts";
import { puts } from "./store/puts.ts";
import { reads } from "./store/reads.ts";
import { start } from "./store/start.ts";
import { sweeping } from "./store/sweeping.ts";
import { threadsAtOnce } from "./store/threads.ts";
import { updates } from "./store/updates.ts";
import { upkeep } from "./store/upkeep.ts";
import { waits } from "./store/waits.ts";
import { workloads } from "./store/workloads.ts";
import { watching } from "./watching.ts";

/** In the order in which they run. */
export const parts: readonly Part[] = [
  growth,
  workloads,
  operations,
  codec,
  puts,
  updates,
  waits,
  reads,
  upkeep,
  encryption,
  sweeping,
  postgres,
  redis,
  threadsAtOnce,
  processesOnOneFile,
  watching,
  finding,
  langgraph,
  langgraphDelta,
  langgraphAgent,
  langgraphSynced,
  langgraphPostgres,
  runtime,
  files,
  screen,
  memory,
  start,
  profile,
  floors,
];
