import { AIMessage, type AIMessageFields, HumanMessage, ToolMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type KnownClass, knownClass } from "../../../src/langgraph/values/classes.ts";
import { nodeOf } from "../../../src/langgraph/values/instances.ts";
import { KnownMessages, type MessageRow } from "../../../src/langgraph/values/known-messages.ts";
import {
  type Fields,
  type MessageNode,
  type MessageSnapshot,
  takeSnapshot,
} from "../../../src/langgraph/values/message-snapshot.ts";
import { messageNode } from "../../../src/langgraph/values/messages.ts";

const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<never>;
const object = fc.dictionary(
  fc.string({ maxLength: 4 }).filter((key) => key !== "__proto__"),
  json,
  { maxKeys: 3, noNullPrototype: true },
);

/** Functions that make a message, afresh at every call: the test changes messages in place. */
const recipe = fc.oneof(
  fc
    .record({ content: fc.string(), id: fc.string() })
    .map((fields) => () => new HumanMessage({ ...structuredClone(fields) })),
  fc
    .record({ content: fc.string(), response_metadata: object, additional_kwargs: object })
    .map((fields) => () => new AIMessage({ ...structuredClone(fields) } as AIMessageFields)),
  fc
    .record({ content: fc.string(), tool_call_id: fc.string(), artifact: json })
    .map((fields) => () => new ToolMessage({ ...structuredClone(fields) })),
) as unknown as fc.Arbitrary<() => Fields>;

function classOf(value: object): KnownClass {
  return knownClass(Object.getPrototypeOf(value) as object) as KnownClass;
}

/** Converts a message without any memory of earlier conversions. */
function convert(value: Fields): MessageNode {
  const known = classOf(value);
  const same = <T>(part: T): T => part;
  return messageNode(value as never, known, same) ?? (nodeOf(value, known, same) as MessageNode);
}

/** Remembers a message, as a conversion does. */
function remember(known: KnownMessages, value: Fields): MessageNode {
  // The class notes the keys that its messages have, as in the first conversion of a message.
  convert(value);
  return known.remember(value, classOf(value), nodeOf(value, classOf(value), (part) => part) as MessageNode);
}

/** Returns every object and list inside a message that code can change in place, the message included. */
function partsOf(value: unknown, found: Set<Fields> = new Set()): Set<Fields> {
  if (typeof value !== "object" || value === null || found.has(value as Fields) || Object.isFrozen(value)) return found;
  found.add(value as Fields);
  // No conversion of a usual message reads its namespace, which repeats the class.
  for (const [key, part] of Object.entries(value)) if (key !== "lc_namespace") partsOf(part, found);
  return found;
}

/** Changes a part in place: sets, adds or removes a key, or an element of a list. */
function change(part: Fields, kind: "set" | "add" | "remove", index: number, value: unknown): void {
  const keys = Object.keys(part);
  const key = keys[index % Math.max(1, keys.length)];
  if (Array.isArray(part)) {
    if (kind === "add") part.push(value);
    else if (kind === "remove") part.pop();
    else if (key !== undefined) part[Number(key)] = value;
  } else if (kind === "add" || key === undefined) part["added"] = value;
  else if (kind === "set") part[key] = value;
  else delete part[key];
}

const changes = fc.record({
  part: fc.nat(),
  kind: fc.constantFrom("set", "add", "remove" as const),
  index: fc.nat(),
  value: fc.oneof(json, fc.constant(-0), fc.constant(undefined), fc.date()),
});

describe("known messages", () => {
  it("a node is recalled only if converting the message anew gives an equal node", () => {
    fc.assert(
      fc.property(recipe, changes, (make, { part, kind, index, value: other }) => {
        const value = make();
        const known = new KnownMessages();
        remember(known, value);
        const parts = [...partsOf(value)];
        change(parts[part % parts.length] as Fields, kind, index, other);
        const recalled = known.recall(value);
        if (recalled !== undefined) expect(recalled).toEqual(convert(value));
      }),
      { numRuns: 500 },
    );
  });

  it("the node of an unchanged message is recalled, and is the very node that was remembered", () => {
    fc.assert(
      fc.property(fc.record({ content: fc.string(), id: fc.string() }), (fields) => {
        const value = new HumanMessage({ ...fields }) as unknown as Fields;
        const known = new KnownMessages();
        const node = remember(known, value);
        expect(known.recall(value)).toBe(node);
      }),
    );
  });

  it("a remembered node is frozen to its leaves", () => {
    const value = new AIMessage({ content: "", response_metadata: { tokens: [{ prompt: 1 }] } }) as unknown as Fields;
    const known = new KnownMessages();
    remember(known, value);
    const node = known.recall(value) as unknown as {
      readonly response_metadata: { readonly tokens: readonly object[] };
    };
    for (const part of [
      node,
      node.response_metadata,
      node.response_metadata.tokens,
      node.response_metadata.tokens[0],
    ]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it("a row recalls the messages before the first one that has changed, and forgets the rest", () => {
    const list = Array.from({ length: 20 }, (_, n) => new HumanMessage({ content: `${n}`, id: `${n}` }));
    const known = new KnownMessages();
    for (const each of list) remember(known, each as unknown as Fields);
    const first = known.takeRow(list);
    expect(first?.recall(list)).toBe(0);
    for (const each of list) first?.add(each, known.unchanged(each) as MessageSnapshot);
    if (first !== undefined) known.keepRow(first);
    (list[7] as HumanMessage).content = "changed";
    const again = known.takeRow([...list, new HumanMessage("new")]);
    expect(again).toBe(first);
    expect(again?.recall(list)).toBe(7);
    expect(again?.nodes).toHaveLength(7);
  });

  it("messages that leave their row unchanged are recalled by themselves", () => {
    const list = Array.from({ length: 20 }, (_, n) => new HumanMessage({ content: `${n}`, id: `${n}` }));
    const known = new KnownMessages();
    const row = known.takeRow(list) as MessageRow;
    const node = (each: HumanMessage): MessageNode => convert(each as unknown as Fields);
    for (const each of list) {
      row.add(each, takeSnapshot(each as unknown as Fields, classOf(each), node(each)) as MessageSnapshot);
    }
    expect(known.recall(list[9] as HumanMessage)).toBeUndefined();
    (list[12] as HumanMessage).content = "changed";
    expect(row.recall([...list.slice(0, 5), ...list.slice(6)])).toBe(5);
    for (const [index, each] of list.entries()) {
      const recalled = known.recall(each);
      if (index < 5 || index === 12) expect(recalled).toBeUndefined();
      else expect(recalled).toEqual(node(each));
    }
  });
});
