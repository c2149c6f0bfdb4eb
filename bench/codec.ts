/** How long it takes to capture a conversation of which only the last message is new. `node bench/codec.ts [messages]` */
import { createValueCodec } from "../src/codec/value.ts";

interface Message {
  readonly id: string;
  readonly role: string;
  readonly name: string;
  readonly content: string;
  readonly createdAt: number;
}

const count = Number(process.argv[2] ?? 1_000);

function message(index: number): Message {
  const content = `This is what was said in turn ${index}. `.repeat(11);
  return { id: `message-${index}`, role: index % 2 === 0 ? "user" : "assistant", name: "A", content, createdAt: index };
}

/** In microseconds: of many runs one of the faster ones, since slow ones say more about the machine's other work. */
function time(run: () => unknown): number {
  const times: number[] = [];
  for (let round = -200; round < 600; round++) {
    const start = process.hrtime.bigint();
    run();
    if (round >= 0) times.push(Number(process.hrtime.bigint() - start) / 1_000);
  }
  return times.sort((a, b) => a - b)[120]!;
}

const codec = createValueCodec();
const messages = Array.from({ length: count }, (_, index) => message(index));
const before = codec.encode({ turn: count - 1, messages: messages.slice(0, -1) }, "state").tree;
const state = { turn: count, messages };
/** The same, with no string in common: as if the state had come from somewhere else. */
const recreated: unknown = JSON.parse(JSON.stringify(state));
const tree = codec.encode(state, "state").tree;
const text = JSON.stringify(tree);

const stringify = time(() => JSON.stringify(state));
const rows: [string, number][] = [
  ["JSON.stringify", stringify],
  ["encode, one message new", time(() => codec.encode(state, "state", before))],
  ["encode, one new, other strings", time(() => codec.encode(recreated, "state", before))],
  ["encode, nothing new", time(() => codec.encode(state, "state", tree))],
  ["encode, all new", time(() => codec.encode(state, "state"))],
  ["structuredClone", time(() => structuredClone(state))],
  ["JSON.parse", time(() => JSON.parse(text))],
  ["decode, a copy, no tags", time(() => codec.decode(tree, { tagged: false }))],
  ["decode, a copy, tags looked for", time(() => codec.decode(tree))],
  ["decode, owned, tags looked for", time(() => codec.decode(tree, { owned: true }))],
];
console.log(`${count} messages of ${Math.round(text.length / count)} bytes`);
for (const [name, took] of rows) {
  const each = (took / count).toFixed(3);
  console.log(
    `${name.padEnd(34)}${took.toFixed(0).padStart(7)} µs ${each} µs a message  ${(took / stringify).toFixed(2)} ×`,
  );
}
