import { describe, expect, it } from "vitest";
import { bundleLine } from "../../../src/codec/bundle.ts";
import { open, type Store } from "../../../src/index.ts";
import { idsOf } from "../../support/collect.ts";
import { linesOf } from "./exported.ts";

type Any = Record<string, unknown>;

/** Two threads; one has a branch, a nested namespace, and writes. */
async function bundle(): Promise<string[]> {
  const store = await open<Any>("memory:");
  const thread = store.thread("a");
  for (const n of [1, 2, 3]) {
    await thread.put({ id: `c${n}`, ...(n === 1 ? { state: { n } } : { update: { set: { n } } }) });
    await thread.putWrites(`c${n}`, { task: "t", writes: [{ channel: "c", value: n }] });
  }
  await thread.put({ id: "branch", update: { set: { n: 0 } } }, { parent: "c1" });
  await store.thread("a", { namespace: ["nested"] }).put({ id: "c1", state: {} });
  await store.thread("b").put({ id: "other", state: { n: 9 } });
  return linesOf(store);
}

function kindOf(line: string): string {
  return JSON.parse(line).record.kind;
}

async function shownBy(store: Store<Any>, id: string): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const namespace of await store.thread(id).namespaces()) {
    const thread = store.thread(id, { namespace });
    for await (const checkpoint of thread.history({ states: true }))
      all.push(checkpoint, await thread.writes(checkpoint.id));
  }
  return all;
}

describe("a bundle whose lines are all sound", () => {
  /**
   * Imports the lines and returns whether they were refused or taken; asserts that the threads there afterwards are whole.
   */
  async function outcome(lines: readonly string[], whole: Store<Any>, message: string): Promise<"refused" | "taken"> {
    const store = await open<Any>("memory:");
    const result = await store.import(lines).then(
      () => "taken" as const,
      (error) => {
        expect(error, message).toMatchObject({ code: "CORRUPT", message: expect.stringMatching(/^Line \d+ /) });
        return "refused" as const;
      },
    );
    const there = await idsOf(store.threads());
    if (result === "taken") expect(there, message).toEqual(["a", "b"]);
    for (const id of there) expect(await shownBy(store, id), message).toEqual(await shownBy(whole, id));
    return result;
  }

  it("a bundle is refused where a line is missing, or there twice, or in the place of another of its thread", async () => {
    const lines = await bundle();
    const whole = await open<Any>("memory:");
    await whole.import(lines);
    const other = lines.findLastIndex((line) => kindOf(line) === "thread");
    for (const [index, line] of lines.entries()) {
      expect(await outcome(lines.toSpliced(index, 1), whole, `without line ${index}`)).toBe("refused");
      for (let at = 0; at <= lines.length; at += 1) {
        const message = `line ${index} again at ${at}`;
        expect(await outcome(lines.toSpliced(at, 0, line), whole, message), message).toBe("refused");
        if (at === index || at >= lines.length || at >= other !== index >= other) continue;
        const instead = `line ${index} in the place of ${at}`;
        expect(await outcome(lines.toSpliced(at, 1, line), whole, instead), instead).toBe("refused");
      }
    }
  });

  it("a bundle is refused where a line was moved, unless only writes stand further below their checkpoint", async () => {
    const lines = await bundle();
    const whole = await open<Any>("memory:");
    await whole.import(lines);
    const end = lines.findIndex((line) => kindOf(line) === "end");
    for (const [index, line] of lines.entries()) {
      for (let to = 0; to < lines.length; to += 1) {
        const moved = lines.toSpliced(index, 1).toSpliced(to, 0, line);
        if (moved.every((one, at) => one === lines[at])) continue;
        const message = `line ${index} moved to ${to}`;
        const result = await outcome(moved, whole, message);
        if (kindOf(line) === "writes" && to > index && to < end) expect(result, message).toBe("taken");
        else if (kindOf(lines[to] as string) !== "writes") expect(result, message).toBe("refused");
      }
    }
  });

  it("a bundle is refused where a whole thread is missing, or there in the place of another", async () => {
    const lines = await bundle();
    const whole = await open<Any>("memory:");
    await whole.import(lines);
    const other = lines.findLastIndex((line) => kindOf(line) === "thread");
    const [first, second] = [lines.slice(1, other), lines.slice(other, -1)];
    const around = (...inside: string[][]) => [lines[0] as string, ...inside.flat(), lines.at(-1) as string];
    for (const broken of [around(first), around(second), around(second, second), around(first, second, first)])
      expect(await outcome(broken, whole, "threads")).toBe("refused");
  });

  it("a bundle of an earlier version, which does not tell how many checkpoints have writes, is taken", async () => {
    const lines = await bundle();
    const earlier = lines.map((line) => {
      const { record } = JSON.parse(line);
      if (record.kind === "end") delete record.writes;
      return bundleLine(record);
    });
    expect(earlier).not.toEqual(lines);
    expect(await (await open<Any>("memory:")).import(earlier)).toEqual({ imported: 2, unchanged: 0, checkpoints: 6 });
  });

  it("an export holds a thread once that was named twice", async () => {
    const store = await open<Any>("memory:");
    await store.thread("t").put({ state: {} });
    const lines = await linesOf(store, ["t", "t"]);
    expect(await (await open<Any>("memory:")).import(lines)).toMatchObject({ imported: 1, unchanged: 0 });
  });
});
