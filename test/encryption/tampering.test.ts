import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { Answer, Backend, Found, Key, Listed, Read, Value } from "../../src/backend.ts";
import { memory } from "../../src/backends/memory/index.ts";
import { open, ThreadmarkError } from "../../src/index.ts";
import { forwarding } from "../../src/testing/index.ts";

const encryption = { current: "one", keys: { one: randomBytes(32) } };
const TRIES = 10_000;

/** A record of the store by its place, as text. */
type Place = string;

function placeOf(key: Key | { readonly table: "directory"; readonly id: string }): Place {
  return JSON.stringify(key.table === "directory" ? [key.id] : [key.table, key.lineage, key.group, key.item, key.part]);
}

/** A backend that shows its records with some of them replaced. */
function tamperable(backend: Backend): {
  readonly backend: Backend;
  readonly seen: Map<Place, Uint8Array>;
  forged: Map<Place, Value>;
} {
  const seen = new Map<Place, Uint8Array>();
  const forged = new Map<Place, Value>();
  const show = (place: Place, value: Value): Value => {
    if (typeof value !== "string") seen.set(place, value);
    return forged.get(place) ?? value;
  };
  const shown = (read: Read, answer: Answer): Answer => {
    if ("get" in read) return answer === undefined ? undefined : show(placeOf(read.get), answer as Value);
    if ("list" in read) {
      return (answer as readonly Listed[]).map(({ id, value }) => ({ id, value: show(JSON.stringify([id]), value) }));
    }
    if (!("scan" in read)) return answer;
    const { table, lineage, group } = read.scan;
    return (answer as readonly Found[]).map(({ item, part, value }) => ({
      item,
      part,
      value: show(placeOf({ table, lineage, group, item, part }), value),
    }));
  };
  const read: Backend["read"] = async (reads) => {
    const answers = await backend.read(reads);
    return reads.map((one, index) => shown(one, answers[index]));
  };
  return { backend: forwarding(backend, { read, close: async () => {} }), seen, forged };
}

interface State {
  readonly thread: string;
  readonly n: number;
  readonly text?: string;
}

/** Everything that threads show; undefined for a thread that is refused. */
async function contents(backend: Backend): Promise<ReadonlyMap<string, string | undefined>> {
  const store = await open<State>(backend, { encryption });
  const all = new Map<string, string | undefined>();
  for (const id of ["a", "b", "fork"]) {
    try {
      const thread = store.thread(id);
      const states = [];
      for await (const checkpoint of thread.history({ states: true })) states.push([checkpoint.id, checkpoint.state]);
      const head = states[0]?.[0] as string;
      all.set(id, JSON.stringify([states, await thread.writes(head), await thread.attributes()]));
    } catch (error) {
      if (!ThreadmarkError.is(error, "CORRUPT", "KEY")) throw error;
      all.set(id, undefined);
    }
  }
  return all;
}

test("a record that is flipped, cut, swapped, moved or stripped is refused, and none reads as something else", {
  timeout: 120_000,
}, async () => {
  const place = tamperable(memory());
  const store = await open<State>(place.backend, { encryption, packRows: 3, largeValues: { from: 400 } });
  for (const id of ["a", "b"]) {
    const thread = store.thread(id);
    for (let n = 0; n < 7; n += 1) {
      const text = `${id}${n}`.repeat(n === 3 ? 300 : 2);
      await thread.put({ state: { thread: id, n, text }, id: `${id}-${n}`, attributes: { n } });
    }
    await thread.label(`${id}-1`, "first");
    await thread.putWrites(`${id}-6`, { task: "t", writes: [{ channel: "c", value: id }] });
  }
  await store.thread("a").fork({ into: "fork", at: { step: 4 }, edits: { n: 99 } });
  const truth = await contents(place.backend);
  expect([...truth.values()].every((content) => content !== undefined)).toBe(true);
  const records = [...place.seen.entries()];
  expect(new Set(records.map(([name]) => (JSON.parse(name) as string[])[0]))).toEqual(
    new Set(["a", "b", "fork", "head", "meta", "tail", "mark", "rows", "net", "steps", "write", "value"]),
  );

  let seed = 7;
  const below = (most: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * most);
  };
  const forgeries: ((bytes: Uint8Array) => Value)[] = [
    (bytes) => {
      const flipped = Uint8Array.from(bytes);
      const at = below(flipped.length);
      flipped[at] = (flipped[at] as number) ^ (1 << below(8));
      return flipped;
    },
    (bytes) => bytes.slice(0, below(bytes.length)),
    (bytes) => bytes.slice(1 + below(bytes.length - 1)),
    () => records[below(records.length)]?.[1] as Uint8Array,
    () => "1j99914b932bd37a50b983c5e7c90ae93b{}",
    () => "1j99914b93{}",
    (bytes) => Uint8Array.from([...bytes, below(256)]),
  ];
  let refused = 0;
  let unread = 0;
  for (let count = 0; count < TRIES; count += 1) {
    const [name, bytes] = records[below(records.length)] as (typeof records)[number];
    const forged = (forgeries[count % forgeries.length] as (typeof forgeries)[number])(bytes);
    if (typeof forged !== "string" && Buffer.compare(forged, bytes) === 0) continue;
    place.forged.clear();
    place.forged.set(name, forged);
    // Reading everything takes long: most tries read the one record, as the engine would.
    if (count % 50 === 0) {
      for (const [id, content] of await contents(place.backend)) {
        if (content === undefined) refused += 1;
        else expect(content).toBe(truth.get(id));
      }
      continue;
    }
    const outcome = await readOne(place.backend, name);
    expect(outcome).toBe("refused");
    unread += 1;
  }
  expect(refused).toBeGreaterThan(50);
  expect(unread).toBeGreaterThan(9_000);
});

const readers = new WeakMap<Backend, Backend>();

/** Reads one record through the keys of a store, without the engine. */
async function readOne(place: Backend, name: Place): Promise<"refused" | Value | undefined> {
  const { EncryptedBackend } = await import("../../src/engine/encryption/encrypted-backend.ts");
  const { unwrap } = await import("../../src/codec/envelope.ts");
  const reader = readers.get(place) ?? new EncryptedBackend(place, encryption);
  readers.set(place, reader);
  const parts = JSON.parse(name) as [string] | [Key["table"], number, number, number, number];
  const get =
    parts.length === 1
      ? ({ table: "directory", id: parts[0] } as const)
      : { table: parts[0], lineage: parts[1], group: parts[2], item: parts[3], part: parts[4] };
  try {
    const [value] = await (get.table === "head" ? new EncryptedBackend(place, encryption) : reader).read([{ get }]);
    return unwrap(value as Value);
  } catch (error) {
    if (ThreadmarkError.is(error, "CORRUPT", "KEY")) return "refused";
    throw error;
  }
}
