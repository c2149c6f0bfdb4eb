import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { open } from "../../src/index.ts";
import { folderOfTest } from "../support/folders-of-tests.ts";
import { lines, records, storeWith, threadmark, threeSteps } from "./run.ts";

test("ui serves the inspector at the address it prints, and ends when it is interrupted", async () => {
  const url = await storeWith(threeSteps);
  const interrupt = new AbortController();
  let answered: Promise<unknown> | undefined;
  const { code, out } = await threadmark(["ui", url, "--json", "--read-only"], {
    signal: interrupt.signal,
    hear: (text) => {
      const { port, token } = records(text)[0] as { port: number; token: string };
      answered ??= fetch(`http://127.0.0.1:${port}/api/threads`, { headers: { authorization: `Bearer ${token}` } })
        .then((response) => response.json())
        .finally(() => interrupt.abort());
    },
  });
  expect(code).toBe(0);
  expect(await answered).toMatchObject({ total: 1, threads: [{ id: "user-42" }] });
  expect(records(out)).toMatchObject([{ address: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#token=/) }]);
});

test("a port that is taken is a failure with a reason", async () => {
  const url = await storeWith(threeSteps);
  const interrupt = new AbortController();
  const first = threadmark(["ui", url, "--json"], {
    signal: interrupt.signal,
    hear: (text) => {
      const { port } = records(text)[0] as { port: number };
      void threadmark(["ui", url, "--port", String(port)]).then(({ code, err }) => {
        second = { code, err };
        interrupt.abort();
      });
    },
  });
  let second: { code: number; err: string } | undefined;
  await first;
  expect(second).toMatchObject({ code: 1, err: expect.stringContaining("EADDRINUSE") });
});

test("the demo tells what was kept and what was not run again, and ends by itself with --no-serve", async () => {
  const directory = folderOfTest();
  const { code, out, err } = await threadmark(["demo", "--no-serve", "--dir", directory, "--pace", "0"]);
  expect([code, err]).toEqual([0, ""]);
  const fact = (name: string): string[] =>
    lines(out)
      .filter((line) => line.trim().startsWith(`${name}:`))
      .map((line) => line.slice(line.indexOf(":") + 1).trim());
  expect(fact("kept")[0]).toMatch(/^plan, read moon, read sun.*; in 2 checkpoints$/);
  expect(fact("not run again")[0]).toMatch(/^plan, read moon, read sun/);
  expect(lines(out).filter((line) => line.length > 80 && !line.includes(directory))).toEqual([]);
  const store = await open<{ plan: string[]; report?: { approvedBy: string } }>(`sqlite:${directory}/agent.db`);
  const [original, fork] = [await store.thread("tides").latest(), await store.thread("tides-edited").latest()];
  expect([original?.state.plan.length, original?.state.report?.approvedBy]).toEqual([4, "Ann"]);
  expect([fork?.state.plan, fork?.state.report?.approvedBy]).toEqual([["moon", "earth"], "Ben"]);
  expect((await store.thread("tides-waiting").latest())?.waiting).toBe(1);
  expect((await store.verify()).ok).toBe(true);
  await store.close();
}, 120_000);

test("a demo that is interrupted ends with 130, between two scenes", async () => {
  const directory = folderOfTest();
  const interrupt = new AbortController();
  const { code, out } = await threadmark(["demo", "--no-serve", "--dir", directory, "--pace", "0"], {
    signal: interrupt.signal,
    hear: (text) => {
      if (text.includes("\n2  ")) interrupt.abort();
    },
  });
  expect(code).toBe(130);
  expect(out).not.toContain("\n3  ");
}, 120_000);

test("where there is no SQLite, the demo tells the same story on files", async () => {
  const directory = folderOfTest();
  const program = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
  const parameters = ["--no-experimental-sqlite", program, "demo", "--no-serve", "--pace", "0", "--dir", directory];
  const { status, stdout, stderr } = spawnSync(process.execPath, parameters, { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toContain(`tides file:${directory}/agent\n`);
  expect(stdout).toMatch(/not run again: plan, read moon, read sun/);
  expect((await threadmark(["verify", `file:${directory}/agent`])).code).toBe(0);
}, 120_000);

test("as a program: an answer in the demo's inspector is acted on, and Ctrl-C ends it with 0", async () => {
  const directory = folderOfTest();
  const program = new URL("../../src/cli/main.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [program, "demo", "--dir", directory, "--pace", "20"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const address = await new Promise<URL>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.startsWith("Inspector:")) resolve(new URL(line.slice("Inspector:".length).trim()));
    });
    child.once("close", () => reject(new Error("The demo ended before it served.")));
  });
  const headers = {
    authorization: `Bearer ${address.hash.slice("#token=".length)}`,
    "content-type": "application/json",
  };
  // biome-ignore lint/suspicious/noExplicitAny: answers are JSON of many forms.
  const ask = async (path: string, body?: object): Promise<any> =>
    (
      await fetch(
        `${address.origin}/api/${path}`,
        body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers },
      )
    ).json();
  const { thread } = await ask("thread?thread=tides-waiting");
  const checkpoint = thread.head.id as string;
  const facts = await ask(`checkpoint?thread=tides-waiting&checkpoint=${checkpoint}`);
  const value = { approve: true, by: "Eve" };
  await ask("answer", { thread: "tides-waiting", checkpoint, interrupt: facts.interrupts[0].id, value });
  await expect
    .poll(async () => (await ask("thread?thread=tides-waiting")).thread.status, { timeout: 30_000 })
    .toBe("done");
  child.kill("SIGINT");
  expect(await ended).toBe(0);
}, 120_000);
