import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { hearCommits } from "../../../src/backends/sqlite/hear-commits.ts";
import { folderForEach } from "../../support/folders-of-tests.ts";

const path = folderForEach();

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** Hears a file whose count of commits the test decides. */
function heard(file: string): { commit(): void; calls(): number; looks(): number; stop(): void } {
  let [commits, calls, looks] = [0, 0, 0];
  const version = (): number => {
    looks += 1;
    return commits;
  };
  const stop = hearCommits(file, version, () => {
    calls += 1;
  });
  return {
    commit: () => {
      commits += 1;
    },
    calls: () => calls,
    looks: () => looks,
    stop,
  };
}

test("a file in a folder that cannot be watched is looked at every 20 ms", () => {
  const file = heard(path("absent", "agent.db"));
  file.commit();
  vi.advanceTimersByTime(20);
  expect(file.calls()).toBe(1);
  vi.advanceTimersByTime(200);
  expect([file.calls(), file.looks()]).toEqual([1, 12]);
  file.stop();
  vi.advanceTimersByTime(1000);
  expect(file.looks()).toBe(12);
});

test("a file that nobody writes is looked at four times a second", () => {
  const file = heard(path("agent.db"));
  vi.advanceTimersByTime(10_000);
  expect(file.looks()).toBe(41);
  file.stop();
});

test("a commit that the system does not tell of is heard, and those after it within 20 ms", () => {
  const file = heard(path("agent.db"));
  file.commit();
  vi.advanceTimersByTime(250);
  expect(file.calls()).toBe(1);
  file.commit();
  vi.advanceTimersByTime(20);
  expect(file.calls()).toBe(2);
  file.stop();
});

test("a commit that shows a while after its file was written is heard soon after", async () => {
  const file = heard(path("agent.db"));
  const before = file.looks();
  writeFileSync(path("agent.db-wal"), "frames");
  // The system tells of the write in a turn of the event loop, which no fake timer decides.
  while (file.looks() === before) await new Promise((resolve) => setImmediate(resolve));
  expect(file.calls()).toBe(0);
  vi.advanceTimersByTime(100);
  file.commit();
  vi.advanceTimersByTime(20);
  expect(file.calls()).toBe(1);
  file.stop();
});

test("writes of other files are passed over", async () => {
  const other = heard(path("other.db"));
  const file = heard(path("agent.db"));
  const before = file.looks();
  writeFileSync(path("other.db-wal"), "frames");
  while (other.looks() === 1) await new Promise((resolve) => setImmediate(resolve));
  expect(file.looks()).toBe(before);
  for (const { stop } of [file, other]) stop();
});
