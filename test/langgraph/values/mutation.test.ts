import { type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { expect, it } from "vitest";
import { ThreadmarkSaver } from "../../../src/langgraph/index.ts";
import { memoryUnderTest, sqliteUnderTest } from "../../support/places.ts";
import { changes, kinds, type Loose } from "../support/changed-messages.ts";
import { newThread, onEveryBackend, put, thread, valuesAt } from "../support/saver.ts";

onEveryBackend(
  "a message that was stored and then changed",
  (savers) => {
    it.each(Object.keys(changes))(
      "a message changed in place (%s) is stored as it is now, and its earlier checkpoint reads as it was",
      async (name) => {
        const saver = await savers.fresh();
        for (const make of kinds) {
          const id = newThread();
          const message = make();
          const first = await put(saver, thread(id), { messages: [message] });
          // Once more unchanged: now it is known.
          const second = await put(saver, first, { messages: [message] }, 2);
          changes[name]?.(message as never);
          const third = await put(saver, second, { messages: [message] }, 3);
          const fresh = new ThreadmarkSaver(saver.store);
          expect((await valuesAt(fresh, second))["messages"]).toStrictEqual([make()]);
          const [read] = (await valuesAt(fresh, third))["messages"] as [Loose];
          expect(read).toStrictEqual(message);
          expect(Object.keys(read)).toEqual(Object.keys(message));
          expect(read.lc_kwargs).toStrictEqual((message as never as Loose).lc_kwargs);
          // A read checkpoint belongs to its reader.
          read["content"] = "mine";
          (read["additional_kwargs"] as Loose | undefined) ??= { lc_kwargs: {} };
          expect(await valuesAt(fresh, third)).toStrictEqual({ messages: [message] });
        }
      },
    );

    it.each(Object.keys(changes))(
      "a message changed in place (%s) in the middle of a long list is stored as it is now, whatever else is added",
      async (name) => {
        const saver = await savers.fresh();
        const message = (index: number): BaseMessage => (kinds[index % kinds.length] as () => BaseMessage)();
        for (let place = 8; place < 8 + kinds.length; place++) {
          const messages = Array.from({ length: 20 }, (_, index) => message(index));
          let config = thread(newThread());
          // Three times: it is new, then known, then laid out beside the others.
          for (let step = 1; step <= 3; step++) {
            config = await put(saver, config, { messages: [...messages] }, step);
            messages.push(message(step));
          }
          const before = shown(messages.slice(0, -1));
          changes[name]?.(messages[place] as never);
          const after = await put(saver, config, { messages: [...messages] }, 4);
          expect(shown((await valuesAt(saver, config))["messages"])).toBe(before);
          expect(shown((await valuesAt(saver, after))["messages"])).toBe(shown(messages));
          const last = await put(saver, after, { messages: [...messages] }, 5);
          expect((await valuesAt(saver, last))["messages"]).toStrictEqual(messages);
        }
      },
    );

    it("a long list that holds a list of some of its messages reads back as it was", async () => {
      const saver = await savers.fresh();
      const messages = Array.from({ length: 30 }, (_, index) => new HumanMessage(`message ${index}`));
      let config = thread(newThread());
      for (let step = 1; step <= 6; step++) {
        const nested = { earlier: messages.slice(step % 3), reversed: messages.toReversed() };
        const values = {
          messages: [...messages, nested, new HumanMessage(`after ${step}`), nested],
          messagesAgain: messages,
        };
        config = await put(saver, config, values, step);
        expect(await valuesAt(saver, config)).toStrictEqual(values);
        messages.push(new HumanMessage(`message of ${step}`));
      }
    });

    it("a message with more parts than a call takes arguments reads back as it was", async () => {
      const saver = await savers.fresh();
      const numbers = Array.from({ length: 200_000 }, (_, index) => index);
      const byName = Object.fromEntries(numbers.map((number) => [`n${number}`, number]));
      const message = new ToolMessage({ content: "", tool_call_id: "c", artifact: { numbers, byName } });
      const first = await put(saver, thread(newThread()), { messages: [message] });
      numbers.push(7);
      byName["n7"] = 8;
      const second = await put(saver, first, { messages: [message] }, 2);
      const [read] = (await valuesAt(saver, second))["messages"] as [ToolMessage];
      expect(read.artifact).toEqual({ numbers, byName });
    });

    it("a long list that got a hole and a name beside its elements is refused", async () => {
      const saver = await savers.fresh();
      const messages = Array.from({ length: 40 }, (_, index) => new HumanMessage(`message ${index}`));
      let config = thread(newThread());
      for (let step = 1; step <= 3; step++) config = await put(saver, config, { messages }, step);
      const named = Object.assign([...messages, new HumanMessage("new")], { note: "lost?" });
      await expect(put(saver, config, { messages: named }, 4)).rejects.toMatchObject({ code: "SERIALIZE" });
      delete named[40];
      await expect(put(saver, config, { messages: named }, 4)).rejects.toMatchObject({ code: "SERIALIZE" });
    });

    it("through a long conversation, whose steps are sealed into packs, every step reads back as it was", async () => {
      const saver = await savers.fresh();
      const messages: BaseMessage[] = [];
      let config = thread(newThread());
      const expected: [typeof config, string][] = [];
      const names = Object.keys(changes);
      for (let n = 0; n < 300; n++) {
        messages.push(new HumanMessage({ content: `message ${n}`, id: `m${n}` }));
        const earlier = messages[Math.floor((n * 7) / 9)] as BaseMessage;
        if (n % 3 === 0) earlier.content = `changed at ${n}`;
        if (n % 5 === 0) changes[names[n % names.length] as string]?.(earlier as never);
        config = await put(saver, config, { messages }, n + 1);
        expected.push([config, shown(messages)]);
      }
      const again = await savers.again();
      for (const [at, text] of expected) expect(shown((await valuesAt(again, at))["messages"])).toBe(text);
      expect(await again.store.verify()).toMatchObject({ ok: true });
    });

    it("any sequence of changes, additions and removals reads back step by step", async () => {
      const step = fc.record({
        at: fc.nat(30),
        change: fc.constantFrom(...Object.keys(changes)),
        what: fc.constantFrom("change", "add", "remove", "swap"),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
          const saver = await savers.fresh();
          const messages = Array.from({ length: 25 }, (_, index) =>
            (kinds[index % kinds.length] as () => BaseMessage)(),
          );
          let config = thread(newThread());
          const expected: [typeof config, string][] = [];
          for (const [index, { at, change, what }] of steps.entries()) {
            const place = at % (messages.length + 1);
            const message = messages[place];
            if (what === "add" || message === undefined)
              messages.splice(place, 0, (kinds[at % kinds.length] as () => BaseMessage)());
            else if (what === "remove") messages.splice(place, 1);
            else if (what === "swap") messages.reverse();
            else changes[change]?.(message as never);
            config = await put(saver, config, { messages }, index + 1);
            expected.push([config, shown(messages)]);
          }
          for (const [at, text] of expected) expect(shown((await valuesAt(saver, at))["messages"])).toBe(text);
        }),
        { numRuns: 60 },
      );
    });
  },
  [memoryUnderTest, sqliteUnderTest],
);

function shown(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === "bigint") return `${part}n`;
    if (part instanceof Map || part instanceof Set) return [part.constructor.name, ...part];
    return part;
  });
}

it("with changesInPlace: false a known message is taken to be unchanged, and new messages are stored", async () => {
  const saver = await ThreadmarkSaver.open("memory:", { changesInPlace: false });
  const messages = Array.from({ length: 30 }, (_, index) => new HumanMessage({ content: `${index}`, id: `${index}` }));
  const first = await put(saver, thread(newThread()), { messages });
  (messages[3] as unknown as Loose)["content"] = "changed in place";
  const replaced = messages.with(5, new HumanMessage({ content: "replaced", id: "5" }));
  const second = await put(saver, first, { messages: [...replaced, new HumanMessage({ content: "new", id: "30" })] });
  const stored = (await valuesAt(saver, second))["messages"] as BaseMessage[];
  expect(stored.map(({ content }) => content)).toEqual([
    ...Array.from({ length: 30 }, (_, index) => (index === 5 ? "replaced" : `${index}`)),
    "new",
  ]);
  const shorter = await put(saver, second, { messages: replaced.slice(0, 20).reverse() });
  const reversed = (await valuesAt(saver, shorter))["messages"] as BaseMessage[];
  expect(reversed.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, index) => `${19 - index}`));
  await saver.close();
});
