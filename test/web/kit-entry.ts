export { open } from "../../src/index.ts";
export { cases, missing, runCase, sharedMemory } from "../../src/testing/index.ts";
