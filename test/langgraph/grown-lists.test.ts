import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import fc from "fast-check";
import { expect, it } from "vitest";
import { ThreadmarkSaver } from "../../src/langgraph/index.ts";
import { memoryUnderTest, sqliteUnderTest } from "../support/places.ts";
import { newThread, onEveryBackend, put, thread, valuesAt } from "./support/saver.ts";

const message = (text: string): BaseMessage => new HumanMessage({ content: text, id: text });
const many = (count: number): BaseMessage[] => Array.from({ length: count }, (_, index) => message(`m${index}`));
const texts = (messages: unknown): unknown[] => (messages as BaseMessage[]).map(({ content }) => content);

/** Returns the messages of a checkpoint, as a store reads them that remembers nothing. */
async function stored(saver: ThreadmarkSaver, config: RunnableConfig): Promise<unknown[]> {
  return texts((await valuesAt(new ThreadmarkSaver(saver.store), config))["messages"]);
}

onEveryBackend(
  "a long list of messages that grows",
  (savers) => {
    it.each([true, false])(
      "any order of growing, cutting, branching and reading again is stored as it was given (changesInPlace: %s)",
      async (changesInPlace) => {
        const step = fc.record({
          what: fc.constantFrom("grow", "grow", "cut", "replace", "plain", "read again", "other saver"),
          parent: fc.constantFrom("last", "last", "last", "any"),
          at: fc.nat(40),
        });
        await fc.assert(
          fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
            const { store } = await savers.fresh();
            const makeSaver = (): ThreadmarkSaver => new ThreadmarkSaver(store, { changesInPlace });
            let saver = makeSaver();
            let messages: unknown[] = many(20);
            const id = newThread();
            const all = [await put(saver, thread(id), { messages })];
            const expected = [texts(messages)];
            for (const [index, { what, parent, at }] of steps.entries()) {
              const from = parent === "last" ? all.length - 1 : at % all.length;
              // A run goes on from what it reads; a list that came from another branch is stored as well.
              if (what === "read again")
                messages = (await valuesAt(saver, all[from] as RunnableConfig))["messages"] as never;
              else if (what === "cut") messages = messages.slice(at % 3, messages.length - (at % 5));
              else if (what === "replace") messages = messages.with(at % messages.length, message(`r${index}`));
              else if (what === "plain") messages = [...messages, { content: `plain ${index}` }];
              else if (what === "other saver") saver = makeSaver();
              messages = [...messages, message(`s${index}`)];
              all.push(await put(saver, all[from] as RunnableConfig, { messages }, index + 2));
              expected.push(texts(messages));
            }
            for (const [index, config] of all.entries()) expect(await stored(saver, config)).toEqual(expected[index]);
          }),
          { numRuns: 40 },
        );
      },
    );

    it("a list is stored as it was given where the store has changed the parent's since", async () => {
      const saver = await savers.fresh();
      const id = newThread();
      const messages = many(20);
      const first = await put(saver, thread(id), { messages });
      const second = await put(saver, first, { messages: [...messages, message("second")] }, 2);
      const patched = await saver.store
        .thread(id)
        .put(
          { update: { patch: [[["messages", 3, "content"], "patched"]] } },
          { parent: second.configurable?.["checkpoint_id"] },
        );
      const config = thread(id, patched.id);
      expect((await stored(saver, config))[3]).toBe("patched");
      const grown = [...messages, message("second"), message("third")];
      const third = await put(saver, config, { messages: grown }, 3);
      expect(await stored(saver, third)).toEqual(texts(grown));
      expect((await stored(saver, config))[3]).toBe("patched");
    });
  },
  [memoryUnderTest, sqliteUnderTest],
);
