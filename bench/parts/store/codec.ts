import { createValueCodec } from "../../../src/codec/values/value.ts";
import type { Part } from "../../harness/context.ts";
import type { Cell } from "../../harness/report.ts";
import { Timings } from "../../harness/timing.ts";
import { conversationOf, type Message } from "../../workloads/conversation.ts";

const messages = 1_000;

/** Measures finding a change, encoding and decoding a state, beside the platform's own functions. */
export const codec: Part = {
  name: "codec",
  title: "capturing and giving out a state of 1,000 messages, without a store",
  async run({ report, quick }) {
    const values = createValueCodec();
    const state = conversationOf(messages);
    const shorter = { ...state, messages: (state["messages"] as Message[]).slice(0, -1) };
    /** The same, with no string in common: as if the state had come from somewhere else. */
    const recreated: unknown = JSON.parse(JSON.stringify(state));
    const before = values.encode(shorter, "state").tree;
    const { tree } = values.encode(state, "state");
    const text = JSON.stringify(tree);
    const actions: readonly (readonly [string, () => unknown])[] = [
      ["JSON.stringify", () => JSON.stringify(state)],
      ["JSON.parse", () => JSON.parse(text) as unknown],
      ["structuredClone", () => structuredClone(state)],
      ["capture, one message new", () => values.encode(state, "state", before)],
      ["capture, one message new, other strings", () => values.encode(recreated, "state", before)],
      ["capture, nothing new", () => values.encode(state, "state", tree)],
      ["capture, all new", () => values.encode(state, "state")],
      ["give out a copy", () => values.decode(tree, { tagged: false })],
      ["give out a copy, tags looked for", () => values.decode(tree)],
    ];
    const timed = actions.map(([name, action]) => ({ name, action, times: new Timings() }));
    // All of them in turns, so that they meet the same machine.
    for (let round = -50; round < (quick ? 50 : 300); round += 1)
      for (const { action, times } of timed) await (round < 0 ? action() : times.measure(action));
    const floor = timed[0]?.times.p50 ?? Number.NaN;
    const rows: Cell[][] = timed.map(({ name, times: { p50 } }) => [
      name,
      p50 * 1_000,
      (p50 * 1_000) / messages,
      p50 / floor,
    ]);
    report.table(
      `A state of ${messages} messages of 500 bytes`,
      [
        { title: "" },
        { title: "p50", unit: "µs" },
        { title: "a message", unit: "µs" },
        { title: "of JSON.stringify", unit: "×" },
      ],
      rows,
    );
  },
};
