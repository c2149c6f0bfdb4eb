import { defineConfig } from "vitest/config";

const shared = {
  pool: "forks",
  testTimeout: 60_000,
  hookTimeout: 60_000,
  teardownTimeout: 30_000,
} as const;

const validation = "test/langgraph/validation/**/*.test.ts";
const long = "test/long/**/*.test.ts";

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        test: { ...shared, name: "threadmark", include: ["test/**/*.test.ts"], exclude: [validation, long] },
      },
      {
        // LangGraph's own validation suite takes describe, it and expect from the global scope.
        test: { ...shared, name: "langgraph-validation", include: [validation], globals: true },
      },
    ],
  },
});
