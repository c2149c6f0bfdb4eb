import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { root, run, runProgram } from "../docs/run.ts";
import { folderOfTest } from "../support/folders-of-tests.ts";

const environment: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: "1" };
delete environment.OPENAI_API_KEY;
const projects = readdirSync(join(root, "examples")).filter((name) =>
  existsSync(join(root, "examples", name, "package.json")),
);
const program = (path: string): string => join(root, "examples", path);
const create = (...parameters: string[]) =>
  run(["node", join(root, "create-threadmark/index.mjs"), ...parameters], root, environment);

// Made projects lie inside the repository, where they find its packages.
mkdirSync(join(root, ".docs-blocks"), { recursive: true });
const made = mkdtempSync(join(root, ".docs-blocks/made-"));
afterAll(() => rmSync(made, { recursive: true, force: true }));

test.each(projects)("the example %s has a README that says how to start it, and its own dependencies", (name) => {
  expect(readFileSync(program(`${name}/README.md`), "utf8")).toContain("npm install && npm start");
  const { dependencies, scripts } = JSON.parse(readFileSync(program(`${name}/package.json`), "utf8"));
  expect(dependencies.threadmark).toBeDefined();
  expect(existsSync(program(`${name}/${scripts.start.split(" ")[1]}`))).toBe(true);
});

/** Starts the chat server; returns how to send it something, and how to kill it. */
async function startServer(cwd: string): Promise<{ send(body: unknown): Promise<unknown>; kill(): Promise<unknown> }> {
  const hook = pathToFileURL(join(root, "scripts/resolve-sources.ts")).href;
  const parameters = ["--import", hook, program("chat-server/server.ts")];
  const child = spawn("node", parameters, { cwd, env: { ...environment, PORT: "0" } });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [address] = (await once(child.stdout, "data")) as [Buffer];
  return {
    async send(body) {
      const url = `${address.toString().trim()}/chat/ann`;
      return (await fetch(url, { method: "POST", body: JSON.stringify(body) })).json();
    },
    kill() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      return ended;
    },
  };
}

test("the chat server asks before it refunds, and goes on after it was killed", async () => {
  const cwd = folderOfTest();
  const first = await startServer(cwd);
  expect(await first.send({ text: "hello" })).toMatchObject({ status: "done", last: "How can I help?" });
  const asked = await first.send({ text: "I want a refund for order 17." });
  expect(asked).toMatchObject({ status: "interrupted", asks: [{ refund: "17" }] });
  await first.kill();
  const second = await startServer(cwd);
  expect(await second.send({ approve: true })).toMatchObject({ status: "done", last: "The refund is on its way." });
  expect(await second.send({ approve: true })).toMatchObject({ error: "NO_INTERRUPT" });
  expect(await second.send({ approve: "yes" })).toMatchObject({ error: "send text or approve" });
});

test("the LangGraph agent goes on with its conversation in a second process", async () => {
  const cwd = folderOfTest();
  const first = await runProgram(program("langgraph-agent/agent.ts"), cwd, environment);
  expect(first.output).toContain("That was message 1.");
  const second = await runProgram(program("langgraph-agent/agent.ts"), cwd, environment);
  expect(second.output).toContain("That was message 3.");
});

test("the pipeline's jobs are done to the end, though a worker is killed", async () => {
  const { code, output } = await runProgram(program("worker-pipeline/main.ts"), folderOfTest(), environment);
  expect(code, output).toBe(0);
  for (const job of ["berlin", "lima", "osaka"]) expect(output).toContain(`${job}: fetch, clean, index, publish`);
});

test("a project that create-threadmark made runs, and refuses to overwrite", async () => {
  const target = join(made, "my agent");
  expect((await create(target, "--template", "model-providers")).output).toContain("npm start");
  expect(JSON.parse(readFileSync(join(target, "package.json"), "utf8")).name).toBe("my-agent");
  const said = await runProgram(join(target, "chat.ts"), folderOfTest(), environment);
  expect(said.output).toContain("You said first: Hello!");
  expect(await create(target)).toMatchObject({ code: 2, output: expect.stringContaining("is not empty") });
});

test.each([
  [[], "name the folder"],
  [["x", "--template", "../secrets"], "no template"],
  [["x", "--unknown"], "--unknown"],
  [["x", "y"], "one folder at a time"],
])("create-threadmark %j is refused with the way to call it", async (parameters, message) => {
  const { code, output } = await create(...parameters);
  expect([code, output]).toEqual([2, expect.stringContaining(message)]);
  expect(output).toContain("npm create threadmark <folder>");
});

test("create-threadmark --help prints the way to call it", async () => {
  expect(await create("--help")).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^npm create threadmark <folder>/),
  });
});

test("the packed create-threadmark brings its templates", async () => {
  const copy = join(made, "package");
  cpSync(join(root, "create-threadmark"), join(copy, "create-threadmark"), { recursive: true });
  cpSync(join(root, "examples"), join(copy, "examples"), { recursive: true });
  await run(["node", join(copy, "create-threadmark/index.mjs"), "--pack-templates"], copy, environment);
  expect(readdirSync(join(copy, "create-threadmark/templates")).sort()).toEqual([...projects].sort());
});
