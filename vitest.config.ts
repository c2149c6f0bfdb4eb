import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const shared = {
  pool: "forks",
  testTimeout: 60_000,
  hookTimeout: 60_000,
  teardownTimeout: 30_000,
  setupFiles: source("test/support/property-seed.ts"),
  // Hundreds of processes are started, most of them alike: they share compiled code.
  env: { NODE_COMPILE_CACHE: source("node_modules/.cache/compiled") },
} as const;

const validation = "test/langgraph/validation/**/*.test.ts";
const long = "test/long/**/*.test.ts";
const citus = "test/citus/**/*.test.ts";

/** The package's own entry points mean the sources: tests need no build. The longest name comes first. */
const alias = {
  "threadmark/sqlite": source("src/backends/sqlite/index.ts"),
  "threadmark/postgres": source("src/backends/postgres/index.ts"),
  "threadmark/redis": source("src/backends/redis/index.ts"),
  "threadmark/file": source("src/backends/file/index.ts"),
  "threadmark/runtime/testing": source("src/runtime/testing/index.ts"),
  "threadmark/runtime": source("src/runtime/index.ts"),
  "threadmark/langgraph": source("src/langgraph/index.ts"),
  "threadmark/otel": source("src/otel/index.ts"),
  "threadmark/large-values": source("src/large-values/index.ts"),
  "threadmark/testing": source("src/testing/index.ts"),
  threadmark: source("src/index.ts"),
};

/** The slowest files, slowest first. Begun last, each would keep one worker busy while the other has nothing to do. */
const longest = [
  "test/property/store.model.test.ts",
  "test/backends/postgres/schema/partitions.conformance.test.ts",
  "test/backends/postgres/connections/pgbouncer.conformance.test.ts",
  "test/processes/kills/writers.test.ts",
  "test/backends/postgres/conformance.test.ts",
  "test/backends/postgres/shards/conformance.test.ts",
  "test/docs/docs.test.ts",
  "test/inspector/page/live.test.ts",
  "test/backends/file/conformance.test.ts",
  "test/backends/sqlite/conformance.test.ts",
  "test/inspector/page/views.test.ts",
  "test/langgraph/validation/postgres.test.ts",
].map(source);
for (const path of longest) if (!existsSync(path)) throw new Error(`The list of slow test files names ${path}.`);

/** Vitest sorts by the durations of the last run, and without one by the sizes of files, which mean nothing here. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = longest.indexOf(moduleId);
      return index < 0 ? longest.length : index;
    };
    const sorted = await super.sort(files);
    return sorted.sort((left, right) => rank(left) - rank(right));
  }
}

export default defineConfig({
  resolve: { alias },
  test: {
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        resolve: { alias },
        test: { ...shared, name: "threadmark", include: ["test/**/*.test.ts"], exclude: [validation, long, citus] },
      },
      {
        // LangGraph's own validation suite takes describe, it and expect from the global scope.
        resolve: { alias },
        test: { ...shared, name: "langgraph-validation", include: [validation], globals: true },
      },
    ],
  },
});
