import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { folderOfTest } from "../../support/folders-of-tests.ts";
import { lines, records, storeWith, threadmark, threeSteps } from "../run.ts";

test("threads lists ids, status and step, newest activity first", async () => {
  const url = await storeWith(async (store) => {
    await store.thread("old").put({ state: {}, createdAt: 1_000, next: ["go"] });
    await store.thread("new").put({ state: {}, createdAt: 2_000, workflow: "chat" });
  });
  const { code, out } = await threadmark(["threads", url]);
  expect(code).toBe(0);
  expect(lines(out).map((line) => line.split(/\s+/).slice(0, 2))).toEqual([
    ["THREAD", "STATUS"],
    ["new", "done"],
    ["old", "paused"],
  ]);
  const asked = await threadmark(["threads", "--json", "--status", "paused", "--url", url]);
  expect(records(asked.out).map(({ id, status, checkpoints }) => ({ id, status, checkpoints }))).toEqual([
    { id: "old", status: "paused", checkpoints: 1 },
  ]);
});

test("the store is named by --url, by the last operand, by THREADMARK_URL, in this order", async () => {
  const [one, two, three] = await Promise.all(
    ["one", "two", "three"].map((id) => storeWith(async (store) => void (await store.thread(id).put({ state: {} })))),
  );
  const env = { THREADMARK_URL: three! };
  const ids = async (...parameters: string[]): Promise<unknown[]> =>
    records((await threadmark(["threads", "--json", ...parameters], { env })).out).map(({ id }) => id);
  expect(await ids("--url", one!)).toEqual(["one"]);
  expect(await ids(two!)).toEqual(["two"]);
  expect(await ids()).toEqual(["three"]);
  const both = await threadmark(["threads", "--url", one!, "not-a-url"]);
  expect([both.code, both.err]).toEqual([
    2,
    "threadmark: not-a-url is no url that a store can have. Did you mean sqlite:not-a-url?\n",
  ]);
});

test("a path without a scheme, and the scheme of another database, are told how a url begins", async () => {
  const directory = folderOfTest();
  const path = await threadmark(["threads", directory]);
  expect([path.code, path.err]).toEqual([2, expect.stringContaining(`Did you mean file:${directory}?`)]);
  const other = await threadmark(["threads", "mysql://localhost/agents"]);
  expect([other.code, other.err]).toEqual([2, expect.stringContaining("It begins with sqlite:, file:,")]);
});

test("history is newest first, and limited, filtered and gone on with", async () => {
  const url = await storeWith(threeSteps);
  const { out } = await threadmark(["history", "user-42", url]);
  expect(lines(out)).toHaveLength(4);
  expect(out).toMatch(/ 2 +act +r1 +before-refactor/);
  const nodes = async (...parameters: string[]): Promise<unknown[]> =>
    records((await threadmark(["history", "user-42", url, "--json", ...parameters])).out).map(({ step }) => step);
  expect(await nodes()).toEqual([2, 1, 0]);
  expect(await nodes("--limit", "1")).toEqual([2]);
  expect(await nodes("--before", "@2")).toEqual([1, 0]);
  expect(await nodes("--source", "input")).toEqual([0]);
  expect(await nodes("--run", "other")).toEqual([]);
});

test("history --states --json gives whole checkpoints", async () => {
  const url = await storeWith(threeSteps);
  const { out } = await threadmark(["history", "user-42", url, "--json", "--states", "--limit", "1"]);
  expect(records(out)[0]).toMatchObject({ state: { messages: ["hello", "hi"] }, next: [], path: ["plan", "act"] });
});

test("show prints rich types as what they are, and tagged in JSON", async () => {
  const url = await storeWith(threeSteps);
  const { out } = await threadmark(["show", "user-42", url]);
  expect(out).toContain("total: 13n");
  expect(out).toContain("Map(1) { 'a' => 1970-01-01T00:00:00.000Z }");
  const { out: json } = await threadmark(["show", "user-42", "@0", url, "--json"]);
  const [record] = records(json);
  expect(Object.keys(record!["state"] as object)).toEqual(["messages", "total", "seen"]);
  expect(record).toMatchObject({
    step: 0,
    next: [{ node: "plan" }],
    writes: [],
    size: { full: true, inherited: false },
    state: { total: { $: "bigint", v: "12" }, seen: { $: "map", v: [["a", { $: "date", v: 0 }]] } },
  });
});

test("a checkpoint is found by its id, by the end of it, and by its step", async () => {
  const url = await storeWith(threeSteps);
  const [head] = records((await threadmark(["history", "user-42", url, "--json", "--limit", "1"])).out);
  const id = head!["id"] as string;
  for (const reference of [id, id.slice(-8), "@2"]) {
    const { out } = await threadmark(["show", "user-42", reference, url, "--json"]);
    expect(records(out)[0]).toMatchObject({ id });
  }
  const ambiguous = await threadmark(["show", "user-42", id.slice(0, 4), url]);
  expect(ambiguous.code).toBe(3);
  expect(ambiguous.err).toContain("Give more of the id.");
});

test("show prints instances of classes it does not know", async () => {
  class Money {
    readonly amount = 7;
  }
  const url = await storeWith(async () => {});
  const store = await open(url, {
    classes: {
      Money: {
        test: (value): value is Money => value instanceof Money,
        encode: ({ amount }: Money) => ({ amount }),
        decode: () => new Money(),
      },
    },
  });
  await store.thread("shop").put({ state: { price: new Money() } });
  await store.close();
  const { out } = await threadmark(["show", "shop", url, "--json"]);
  expect(records(out)[0]).toMatchObject({ state: { price: { $: "class", name: "Money", v: { amount: 7 } } } });
  expect((await threadmark(["show", "shop", url])).out).toContain("Money");
});

test("diff prints what changed, by default against the parent", async () => {
  const url = await storeWith(threeSteps);
  const { out } = await threadmark(["diff", "user-42", "@0", "@1", url]);
  expect(out).toBe("+ messages[1]: 'hi'\n");
  const { out: json } = await threadmark(["diff", "user-42", url, "--json"]);
  expect(records(json)).toEqual([
    { path: ["total"], kind: "changed", before: { $: "bigint", v: "12" }, after: { $: "bigint", v: "13" } },
  ]);
  expect((await threadmark(["diff", "user-42", url])).out).toBe("~ total\n  - 12n\n  + 13n\n");
  const rootless = await threadmark(["diff", "user-42", "@0", url]);
  expect([rootless.code, rootless.err]).toEqual([2, expect.stringContaining("has no parent")]);
});

test("diff marks both sides of a change, and values of several lines stay beside their mark", async () => {
  const long = (word: string): string[] => Array.from({ length: 7 }, (_, index) => `${word} ${index}`.padEnd(30, "."));
  const url = await storeWith(async (store) => {
    const thread = store.thread("t");
    await thread.put({ state: { notes: new Set(long("old")) } });
    await thread.put({ state: { notes: new Set(long("new")) } });
  });
  const { out } = await threadmark(["diff", "t", url]);
  const [head, ...rest] = lines(out);
  expect(head).toBe("~ notes");
  expect(rest.filter((line) => line.startsWith("  - ") || line.startsWith("  + "))).toHaveLength(2);
  expect(rest.every((line) => /^ {2}([-+] | {2})/.test(line))).toBe(true);
});

test("a nested graph is reached with --namespace", async () => {
  const url = await storeWith(async (store) => {
    await threeSteps(store);
    await store.thread("user-42", { namespace: ["sub", "0.1"] }).put({ state: { deep: true } });
  });
  const { out } = await threadmark(["show", "user-42", "-n", "sub", "-n", "0.1", url, "--json"]);
  expect(records(out)[0]).toMatchObject({ namespace: ["sub", "0.1"], state: { deep: true } });
  const wrong = await threadmark(["show", "user-42", "-n", "sup", url]);
  expect([wrong.code, wrong.err]).toEqual([3, expect.stringContaining("it has: (root), sub / 0.1")]);
});

test("tail prints what is there, then new checkpoints as they come, until it is interrupted", async () => {
  const url = await storeWith(threeSteps);
  const store = await open<Record<string, unknown>>(url);
  const interrupt = new AbortController();
  let more = false;
  const { code, out } = await threadmark(["tail", "user-42", url, "--json", "--lines", "2", "--interval", "5"], {
    signal: interrupt.signal,
    hear: (text) => {
      const heard = lines(text).length;
      if (heard === 2 && !more) {
        more = true;
        void store.thread("user-42").put({ update: { set: { total: 14n } }, node: "late" });
      }
      if (heard === 3) interrupt.abort();
    },
  });
  await store.close();
  expect(code).toBe(0);
  expect(records(out).map(({ node }) => node)).toEqual(["plan", "act", "late"]);
});

test("tail goes on with a thread that was deleted and made again, and shows nothing twice when its head is deleted", async () => {
  const url = await storeWith(threeSteps);
  const store = await open<Record<string, unknown>>(url);
  const thread = store.thread("user-42");
  const interrupt = new AbortController();
  const acts = [
    async () => {
      await thread.deleteCheckpoints([(await thread.latest())?.id ?? ""]);
      await thread.put({ update: { set: { total: 15n } }, node: "after the head" });
    },
    async () => {
      await thread.delete();
      await thread.put({ state: {}, node: "another" });
    },
    async () => {
      await thread.put({ state: {}, node: "and on" });
    },
    async () => interrupt.abort(),
  ];
  let acting = Promise.resolve();
  const { out } = await threadmark(["tail", "user-42", url, "--json", "--lines", "1", "--interval", "5"], {
    signal: interrupt.signal,
    hear: (text) => {
      const act = acts[lines(text).length - 1];
      if (act !== undefined) acting = acting.then(act);
    },
  });
  await acting;
  await store.close();
  expect(records(out).map(({ node }) => node)).toEqual(["act", "after the head", "another", "and on"]);
});

test("tail without a thread prints the changes of the store, chosen by thread, workflow and kind, and goes on behind a cursor", async () => {
  const url = await storeWith(threeSteps);
  const store = await open<Record<string, unknown>>(url);
  const told: Record<string, unknown>[] = [];
  const until = async (args: readonly string[], count: number, act: () => Promise<void>): Promise<string> => {
    const interrupt = new AbortController();
    const ending = threadmark(["tail", url, ...args], {
      signal: interrupt.signal,
      hear: (text) => {
        if (lines(text).length >= count) interrupt.abort();
      },
    });
    // The command begins to watch when it has opened the store.
    await new Promise((resolve) => setTimeout(resolve, 300));
    await act();
    const { code, out } = await ending;
    expect(code).toBe(0);
    return out;
  };
  const out = await until(["--json"], 3, async () => {
    const { id } = await store.thread("a").put({ state: {}, workflow: "w" });
    await store.thread("a").label(id, "named");
    await store.thread("b").put({ state: {} });
  });
  told.push(...records(out));
  expect(told.map(({ kind, thread }) => `${kind} ${thread}`).sort()).toEqual(["label a", "put a", "put b"]);
  const plain = await until(["--kind", "label", "--kind", "delete", "--thread", "b"], 1, async () => {
    await store.thread("a").delete();
    await store.thread("b").delete();
  });
  expect(plain).toMatch(/^delete\s+b\s/);
  const rest = await until(["--json", "--after", String(told[2]?.["cursor"])], 2, async () => undefined);
  expect(records(rest).map(({ kind, thread }) => `${kind} ${thread}`)).toEqual(["delete a", "delete b"]);
  await store.close();
  expect((await threadmark(["tail", url, "--kind", "puts"])).code).toBe(2);
  expect((await threadmark(["tail", "user-42", url, "--workflow", "w"])).code).toBe(2);
  expect((await threadmark(["tail", url, "--after", "nonsense"])).code).toBe(2);
});

test("a bare number that is no checkpoint is answered with the way to name a step", async () => {
  const url = await storeWith(async (store) => {
    await store.thread("t").put({ state: {} });
  });
  const { code, err } = await threadmark(["show", "t", "0", url]);
  expect([code, err]).toEqual([3, 'threadmark: Thread "t" has no checkpoint "0". Step 0 is named @0.\n']);
});
