import { test } from "vitest";
import { onMemoryAndSqlite } from "../support/places.ts";
import { playMany } from "../support/play.ts";

onMemoryAndSqlite("any graph, stopped anyhow", ({ fresh, kind }) => {
  const numRuns = kind === "memory" ? 60 : 20;

  test(
    "a random graph that is interrupted and resumed ends in the same state, and runs no finished task again",
    () => playMany(fresh, false, numRuns),
    300_000,
  );

  test(
    "a random graph ends in the same state, whichever commits are lost",
    () => playMany(fresh, true, numRuns),
    300_000,
  );
});
