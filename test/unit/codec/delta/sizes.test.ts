import { describe, expect, it } from "vitest";
import { apply, type Delta, diff, seal, unseal } from "../../../../src/codec/delta/index.ts";
import type { Json } from "../../../../src/codec/json.ts";
import { copyOf, textOf } from "./trees.ts";

const words = "the agent reads a file and plans its next step with care then calls a tool to search for facts".split(
  " ",
);

/** Text of about this length, another one for every seed. */
function prose(length: number, seed: number): string {
  let text = "";
  for (let state = seed * 7_919 + 1; text.length < length; state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) {
    text += `${words[state % words.length]} `;
  }
  return text.slice(0, length);
}

type Message = { type: string; id: string; content: string };

function message(seed: number): Message {
  return { type: seed % 2 === 0 ? "human" : "ai", id: `message-${seed}`, content: prose(600, seed) };
}

function messages(from: number, to: number): Message[] {
  return Array.from({ length: to - from }, (_, index) => message(from + index));
}

/** Trees as they come from a caller: no node shared between two versions. */
function sizeOf(before: Json, after: Json): number {
  const delta = diff(copyOf(before), copyOf(after)) as Delta;
  expect(textOf(apply(before, delta))).toBe(textOf(after));
  return textOf(delta).length;
}

describe("a delta takes about as much as what changed", () => {
  it("when whole numbers are so large that JSON writes them with an exponent", () => {
    const after = { c: 0, a: [0, -9.999999999999999e43, 0] };
    expect(sizeOf({ a: [-9.999999999999999e43, 0] }, after)).toBeLessThanOrEqual(textOf(after).length + 6);
  });

  it("when a message is appended to a thousand", () => {
    const state = { messages: messages(0, 1_000), step: 7 };
    const next = { messages: [...state.messages, message(1_000)], step: 8 };
    expect(sizeOf(state, next)).toBeLessThan(textOf(message(1_000)).length + 50);
  });

  it("when one line changes in one of fifty files", () => {
    const lines = Array.from({ length: 400 }, (_, index) => prose(49, index));
    const files = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`src/${index}.ts`, lines.join("\n")]));
    const text = lines.with(200, "const changed = true;").join("\n");
    expect(sizeOf({ files }, { files: { ...files, "src/7.ts": text } })).toBeLessThan(100);
  });

  it("when lines change in two places of a file", () => {
    const lines = Array.from({ length: 400 }, (_, index) => prose(49, index));
    const next = lines.with(10, "const first = true;").with(390, "const last = true;");
    expect(sizeOf({ text: lines.join("\n") }, { text: next.join("\n") })).toBeLessThan(120);
  });

  it.each([
    ["prose", prose(100_000, 3)],
    ["digits", Array.from({ length: 25_000 }, (_, index) => (index * 7_919) % 10_007).join("")],
    [
      "pairs of surrogates",
      Array.from(prose(50_000, 5), (letter) => String.fromCodePoint(0x1f600 + letter.charCodeAt(0))).join(""),
    ],
  ])("when %s without line ends change in three places", (_, text) => {
    const edited = `${text.slice(0, 100)}🙂${text.slice(100, 60_000)}🙃${text.slice(60_020, -50)}🙂`;
    expect(sizeOf({ text }, { text: edited })).toBeLessThan(250);
  });

  it("when a window over a text without line ends moves on", () => {
    const log = prose(40_000, 4);
    expect(sizeOf({ log: log.slice(0, 30_000) }, { log: log.slice(500, 30_500) })).toBeLessThan(700);
  });

  it("when a text without line ends is replaced by another", () => {
    const text = prose(20_000, 8);
    expect(sizeOf({ text: "x".repeat(20_000) }, { text })).toBeLessThan(text.length + 50);
  });

  it("when a text of 200 KB grows by a sentence", () => {
    const text = prose(200_000, 1);
    expect(sizeOf({ text }, { text: `${text}One more sentence.` })).toBeLessThan(50);
  });

  it("when a list of 1,000 is trimmed to 50", () => {
    const all = messages(0, 1_000);
    expect(sizeOf({ messages: all }, { messages: all.slice(950) })).toBeLessThan(50);
  });

  it("when a list is trimmed and appended to at once", () => {
    const all = messages(0, 101);
    expect(sizeOf(all.slice(0, 100), all.slice(51))).toBeLessThan(textOf(message(100)).length + 50);
  });

  it("when a list is trimmed and appended to, and one further back is removed", () => {
    const all = messages(0, 101);
    const next = all.slice(1).filter((_, index) => index !== 70);
    expect(sizeOf(all.slice(0, 100), next)).toBeLessThan(textOf(message(100)).length + 60);
  });

  it("when elements here and there are removed, and one is changed", () => {
    const all = messages(0, 100);
    const next = all.filter((_, index) => index % 30 !== 5).with(50, { ...(all[52] as Message), type: "tool" });
    expect(sizeOf(all, next)).toBeLessThan(100);
  });

  it("when hundreds of keys go and a large value stays", () => {
    const keys = Array.from({ length: 300 }, (_, index) => `key-${index}`);
    const kept = { messages: messages(0, 100) };
    expect(sizeOf({ ...kept, ...Object.fromEntries(keys.map((key) => [key, 1])) }, kept)).toBeLessThan(4_000);
  });

  it("when a list is empty, and something is put in front", () => {
    const all = messages(0, 100);
    expect(sizeOf(all, [message(100), ...all])).toBeLessThan(textOf(message(100)).length + 50);
    expect(sizeOf({ all, other: [] }, { all, other: [1] })).toBeLessThan(50);
  });

  it("when a counter counts", () => {
    expect(sizeOf({ messages: messages(0, 3), n: 1 }, { messages: messages(0, 3), n: 2 })).toBe('{"s":{"n":2}}'.length);
  });
});

describe("a sealed sequence takes about as much as its deltas", () => {
  type State = { [key: string]: Json };

  /** Seals 64 steps; the size of the result as a share of the deltas' size. */
  function share(first: State, next: (state: State, step: number) => State, root = false): number {
    const deltas: Delta[] = root ? [{ r: first }] : [];
    const states: Json[] = root ? [first] : [];
    let state = first;
    while (deltas.length < 64) {
      const after = copyOf(next(state, deltas.length));
      deltas.push(diff(state, after) as Delta);
      states.push(after);
      state = after;
    }
    const sealed = copyOf(seal(deltas));
    let tree: Json = first;
    for (const [index, delta] of unseal(sealed.net, sealed.steps, 64).entries()) {
      tree = apply(tree, delta);
      expect(textOf(tree)).toBe(textOf(states[index]));
    }
    return (textOf(sealed.net).length + textOf(sealed.steps).length) / textOf(deltas).length;
  }

  const history = (state: State): Json[] => state.messages as Json[];
  const conversation = { messages: messages(0, 20), step: 0, node: "plan", at: "2025-01-01T00:00:00.000Z" };
  const converse = (state: State, step: number): State => ({
    messages: [...history(state), message(100 + step)],
    step,
    node: step % 2 === 0 ? "plan" : "act",
    at: new Date(1_735_689_600_000 + step * 1_234).toISOString(),
  });

  it("a sealed sequence takes about as much as its deltas for a conversation", () => {
    expect(share(conversation, converse)).toBeLessThan(1.02);
  });

  it("a sealed sequence takes about as much as its deltas for a conversation from its first checkpoint on", () => {
    expect(share({ ...conversation, context: prose(20_000, 1) }, converse, true)).toBeLessThan(1.02);
  });

  it("a sealed sequence takes about as much as its deltas for messages that are streamed in", () => {
    const stream = (state: State, step: number): State => {
      const last = history(state).at(-1) as Message;
      if (step % 8 === 0) return { ...state, messages: [...history(state), message(step)] };
      return { ...state, messages: history(state).with(-1, { ...last, content: last.content + prose(60, step) }) };
    };
    expect(share(conversation, stream)).toBeLessThan(1.1);
  });

  it("a sealed sequence takes about as much as its deltas for a window over the last messages", () => {
    expect(
      share(conversation, (state, step) => ({ ...state, messages: [...history(state).slice(1), message(step)] })),
    ).toBeLessThan(1.02);
  });

  it("a sealed sequence takes about as much as its deltas for a list with the newest in front", () => {
    expect(
      share(conversation, (state, step) => ({ ...state, messages: [message(step), ...history(state)] })),
    ).toBeLessThan(1.05);
  });

  it("a sealed sequence takes about as much as its deltas for a text that grows", () => {
    const grow = (state: State, step: number): State => ({ ...state, log: `${state.log as string}${prose(80, step)}` });
    expect(share({ log: prose(1_000, 1), step: 0 }, grow)).toBeLessThan(1.05);
  });

  it("a sealed sequence takes about as much as its deltas for a field that every step overwrites, but for its last value", () => {
    const rest = prose(10_000, 1);
    expect(share({ rest, scratch: "" }, (state, step) => ({ ...state, scratch: prose(500, step) }))).toBeLessThan(1.05);
  });

  it("a sealed sequence takes about as much as its deltas for a plan that is set once and then worked off", () => {
    const plan = Array.from({ length: 20 }, (_, index) => ({ index, title: prose(60, index), status: "open" }));
    const work = (state: State, step: number): State => ({
      ...state,
      plan:
        step === 0 ? plan : (state.plan as typeof plan).with(step % 20, { ...plan[step % 20]!, status: `at ${step}` }),
    });
    expect(share({ rest: prose(10_000, 1), plan: [] }, work)).toBeLessThan(1.2);
  });
});
