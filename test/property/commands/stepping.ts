import assert from "node:assert/strict";
import fc from "fast-check";
import type { PutInput, WritesInput } from "../../../src/model/interface/options.ts";
import { clone } from "../clone.ts";
import type { Line } from "../naive/thread.ts";
import { putWrites } from "../naive/writes.ts";
import { value } from "../states.ts";
import { settle } from "../system.ts";
import { type Commands, chosenLine, commands, lineChoice } from "./command.ts";
import { putBoth } from "./put.ts";

/** Of one step: the result of a task, in what form the next state has it, and how the two are saved. */
const step = fc.record({
  kind: fc.constantFrom("message", "message without id", "file", "same file", "other"),
  value,
  together: fc.boolean(),
  tasks: fc.integer({ min: 1, max: 2 }),
  /** Whether the task saves again what it saved, once the checkpoint is there. */
  again: fc.boolean(),
  whole: fc.boolean(),
});

interface Step {
  readonly kind: string;
  readonly value: unknown;
  readonly together: boolean;
  readonly tasks: number;
  readonly again: boolean;
  readonly whole: boolean;
}

interface Work {
  readonly messages: readonly unknown[];
  readonly files: Readonly<Record<string, string>>;
}

/** A result, and the state that a reducer makes of it. */
function resultOf({ kind, value: other }: Step, { messages, files }: Work): [channel: string, result: unknown, Work] {
  const n = messages.length;
  const text = `message ${n} `.repeat(8);
  if (kind === "message") {
    const message = { id: `m${n}`, text };
    return ["messages", [message], { messages: [...messages, message], files }];
  }
  if (kind === "message without id") {
    return [
      "messages",
      [{ text, meta: { n } }],
      { messages: [...messages, { text, meta: { n }, id: `m${n}` }], files },
    ];
  }
  const name = `f${n % 3}`;
  if (kind === "file") {
    const edited = `${files[name] ?? "line\n".repeat(40)}edit ${n}\n`.replace("line", `line of ${n}`);
    return ["files", { [name]: edited }, { messages, files: { ...files, [name]: edited } }];
  }
  if (kind === "same file") return ["files", { [name]: files[name] ?? "" }, { messages, files }];
  return ["other", { other, list: [text, other] }, { messages: [...messages, other], files }];
}

function workOf(line: Line): Work | undefined {
  const state = line.checkpoints.at(-1)?.state as Partial<Work> | undefined;
  const isWork = Array.isArray(state?.messages) && typeof state.files === "object" && state.files !== null;
  return isWork && Object.getPrototypeOf(state) === Object.prototype ? (state as Work) : undefined;
}

/** Steps as agents take them: tasks save their results, and the checkpoint that follows holds these again. */
export const stepping: Commands = commands(
  "step",
  fc.record({ ...lineChoice, steps: fc.array(step, { minLength: 1, maxLength: 8 }) }),
  async ({ steps, ...choice }, model, real) => {
    const { thread, namespace, line, handle } = chosenLine(choice, model, real);
    const begun = workOf(line) !== undefined;
    if (!begun) await putBoth(model, real, thread, namespace, { state: { messages: [], files: {}, n: 0 } }, {});
    for (const one of steps) {
      const head = line.checkpoints.at(-1)?.id;
      const before = workOf(line);
      // A lease of another may have refused the checkpoint.
      if (head === undefined || before === undefined) return;
      const [channel, result, { messages, files }] = resultOf(one, before);
      const inputs = Array.from({ length: one.tasks }, (_, index): WritesInput => {
        const data = { channel, value: index === 0 ? result : { part: index, of: result } };
        return { task: `task ${index}`, writes: [data, { channel: "n", value: index }] };
      });
      const written = inputs.map((input) => handle.putWrites(head, clone(input)));
      if (!one.together) await Promise.all(written);
      const expected = inputs.map((input) => putWrites(line, head, input, model.now));
      settle(model, thread);
      const set = { files, n: messages.length };
      const appended = messages.slice(before.messages.length);
      const input = one.whole ? { state: { messages, ...set } } : { update: { append: { messages: appended }, set } };
      await putBoth(model, real, thread, namespace, clone(input) as PutInput<never>, {});
      assert.deepEqual(await Promise.all(written), expected);
      if (!one.again) continue;
      for (const repeated of inputs) {
        assert.deepEqual(
          { ...(await handle.putWrites(head, clone(repeated))) },
          putWrites(line, head, repeated, model.now),
        );
      }
    }
  },
);
