import { userInfo } from "node:os";
import { expect, test } from "vitest";
import { records, storeWith, threadmark } from "../run.ts";

test("lease shows who holds it, and --break ends it and says afterwards who did", async () => {
  const url = await storeWith(async (store) => {
    await store.thread("t").put({ state: { total: 1 } });
    await store.thread("t").acquire({ holder: "worker-7", ttl: 10 ** 12 });
  });
  const shown = await threadmark(["lease", "t", url]);
  expect([shown.code, shown.out]).toEqual([
    0,
    expect.stringMatching(/holder +worker-7\nepoch +1\nremaining +\d+ ms\n/),
  ]);
  const reason = ["--reason", "its clock was ahead\u001b[2J"];
  const broken = await threadmark(["lease", "t", "--break", ...reason, url]);
  expect(broken.code).toBe(0);
  expect(broken.out).toContain(`by ${userInfo().username}, epoch 1 of worker-7: its clock was ahead`);
  expect(broken.out).not.toContain("\u001b[2J");
  const [record] = records((await threadmark(["lease", "t", "--json", url])).out);
  expect(record).toMatchObject({
    thread: "t",
    held: null,
    broken: [{ holder: "worker-7", epoch: 1, by: userInfo().username, reason: reason[1] }],
  });
  expect((await threadmark(["set", "t", "total", "2", url])).code).toBe(0);
});

test("lease of a thread that is not there says so; --reason without --break is wrong usage", async () => {
  const url = await storeWith(async (store) => void (await store.thread("t").put({ state: { total: 1 } })));
  expect((await threadmark(["lease", "u", url])).code).toBe(3);
  expect((await threadmark(["lease", "t", url])).err).toBe("Nobody holds the lease.\n");
  expect((await threadmark(["lease", "t", "--reason", "r", url])).code).toBe(2);
});
