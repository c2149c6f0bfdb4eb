import { defineConfig } from "vitest/config";

/** Campaigns that take hours if asked to: THREADMARK_LONG scales each one's count, so no time limit fits them all. */
export default defineConfig({
  test: {
    name: "long",
    include: ["test/long/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 0,
    hookTimeout: 60_000,
  },
});
