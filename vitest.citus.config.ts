import { defineConfig } from "vitest/config";

/** Tests on a Citus cluster, whose coordinator THREADMARK_TEST_CITUS names. */
export default defineConfig({
  test: {
    name: "citus",
    include: ["test/citus/**/*.test.ts"],
    globalSetup: "test/citus/support/coordinator.ts",
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 600_000,
    hookTimeout: 120_000,
  },
});
