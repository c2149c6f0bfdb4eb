import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const shared = {
  pool: "forks",
  testTimeout: 60_000,
  hookTimeout: 60_000,
  teardownTimeout: 30_000,
  // Hundreds of processes are started, most of them alike: what one has compiled the next need not.
  env: { NODE_COMPILE_CACHE: source("node_modules/.cache/compiled") },
} as const;

const validation = "test/langgraph/validation/**/*.test.ts";
const long = "test/long/**/*.test.ts";

/** The package's own entry points mean the sources: tests need no build. The longest name comes first. */
const alias = {
  "threadmark/sqlite": source("src/backends/sqlite/index.ts"),
  "threadmark/postgres": source("src/backends/postgres/index.ts"),
  "threadmark/file": source("src/backends/file/index.ts"),
  "threadmark/runtime": source("src/runtime/index.ts"),
  "threadmark/langgraph": source("src/langgraph/index.ts"),
  "threadmark/testing": source("src/testing/index.ts"),
  threadmark: source("src/index.ts"),
};

export default defineConfig({
  resolve: { alias },
  test: {
    maxWorkers: 2,
    projects: [
      {
        resolve: { alias },
        test: { ...shared, name: "threadmark", include: ["test/**/*.test.ts"], exclude: [validation, long] },
      },
      {
        // LangGraph's own validation suite takes describe, it and expect from the global scope.
        resolve: { alias },
        test: { ...shared, name: "langgraph-validation", include: [validation], globals: true },
      },
    ],
  },
});
