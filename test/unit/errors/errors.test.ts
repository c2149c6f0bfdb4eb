import { inspect } from "node:util";
import { expect, it } from "vitest";
import { CodedError, open, ThreadmarkError } from "../../../src/index.ts";
import { RunError } from "../../../src/runtime/index.ts";

it("an error prints the facts it has and no others", () => {
  const error = new ThreadmarkError("BUSY", "It is held.", { thread: "t", remaining: 5 });
  expect(inspect(error)).not.toContain("undefined");
  expect(inspect(error)).toMatch(/^ThreadmarkError: It is held\./);
  expect(inspect(error)).toMatch(/code: 'BUSY'/);
  expect(Object.keys(error).sort()).toEqual(["code", "help", "remaining", "thread"]);
  expect(inspect(new RunError("ABORTED", "It was aborted.", { thread: "t", run: undefined }))).not.toContain(
    "undefined",
  );
});

it("ThreadmarkError.is goes by code and by brand, so that errors of another copy of the package count", async () => {
  const error = new ThreadmarkError("BUSY", "It is held.", { holder: "a", remaining: 5 });
  expect(ThreadmarkError.is(error)).toBe(true);
  expect(ThreadmarkError.is(error, "BUSY")).toBe(true);
  expect(ThreadmarkError.is(error, "FENCED", "BUSY")).toBe(true);
  expect(ThreadmarkError.is(error, "FENCED")).toBe(false);
  for (const other of [undefined, null, "BUSY", { code: "BUSY" }, new Error("BUSY"), new RunError("ABORTED", "")]) {
    expect(ThreadmarkError.is(other)).toBe(false);
  }
  const copy = (await import(`${"../../../src/errors.ts"}?copy`)) as typeof import("../../../src/errors.ts");
  const foreign = new copy.ThreadmarkError("BUSY", "It is held.");
  expect(foreign).not.toBeInstanceOf(ThreadmarkError);
  expect(ThreadmarkError.is(foreign, "BUSY")).toBe(true);
});

it("errors of the store and of runs share a base", () => {
  expect(new ThreadmarkError("CLOSED", "")).toBeInstanceOf(CodedError);
  expect(new RunError("ABORTED", "")).toBeInstanceOf(CodedError);
});

it("a misspelt option is a TypeError that names the nearest known one, before any I/O", async () => {
  await expect(open("sqlite:/nowhere/x.db", { readonly: true } as never)).rejects.toThrow(/did you mean "readOnly"/);
  const store = await open("memory:");
  const thread = store.thread("t");
  const wrong = { limits: 1 } as never;
  for (const call of [
    () => thread.put({ state: {}, nxt: [] } as never),
    () => thread.put({ state: {} }, wrong),
    () => thread.latest(wrong),
    () => thread.fork(wrong),
    () => thread.prune(wrong),
    () => thread.acquire(wrong),
    () => thread.breakLease(wrong),
    () => thread.putWrites("a", { task: "t", writes: [] }, wrong),
    () => store.verify(wrong),
    () => store.compact(wrong),
    () => store.stats(wrong),
    () => store.stats({ quick: true } as never),
    () => store.measure(wrong),
    () => store.import([], wrong),
  ]) {
    await expect(call()).rejects.toThrow(/unknown key/);
  }
  for (const call of [
    () => thread.history(wrong),
    () => store.threads(wrong),
    () => store.export(wrong),
    () => store.thread("t", wrong),
  ]) {
    expect(call).toThrow(/unknown key/);
  }
  for (const rules of [{}, { keepLabelled: true }, undefined]) {
    await expect(thread.prune(rules as never)).rejects.toThrow(TypeError);
  }
  await store.close();
});

it("an error names its row on the page of errors", () => {
  expect(new ThreadmarkError("TOO_LARGE", "It is large.").help).toBe("threadmark/docs/reference/errors.md#too_large");
  expect(new RunError("NO_INTERRUPT", "Nobody asked.", {}).help).toBe(
    "threadmark/docs/reference/errors.md#no_interrupt",
  );
});
