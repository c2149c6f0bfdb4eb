import { test } from "vitest";
import { onMemoryAndSqlite } from "../support/places.ts";
import { playMany } from "../support/play.ts";

onMemoryAndSqlite("any graph, stopped anyhow", ({ fresh, kind }) => {
  const numRuns = kind === "memory" ? 60 : 20;

  test("ends in the same state, and runs no task again that ended", () => playMany(fresh, false, numRuns), 300_000);

  test("ends in the same state, whichever commits its medium loses", () => playMany(fresh, true, numRuns), 300_000);
});
