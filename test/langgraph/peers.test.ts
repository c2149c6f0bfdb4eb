import { execFile } from "node:child_process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const source = (path: string): string => pathToFileURL(new URL(`../../src/${path}`, import.meta.url).pathname).href;

/** Imports modules in a new process, and tells which packages of LangChain's were asked for; "missing" as if not installed. */
async function importing(paths: readonly string[], more = "", missing = false): Promise<string[]> {
  const program = `
    import { registerHooks } from "node:module";
    const asked = new Set();
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier.startsWith("@langchain/")) {
          asked.add(specifier.split("/").slice(0, 2).join("/"));
          if (${missing}) throw Object.assign(new Error("Cannot find package " + specifier), { code: "ERR_MODULE_NOT_FOUND" });
        }
        return next(specifier, context);
      },
    });
    for (const path of ${JSON.stringify(paths)}) await import(path);
    ${more}
    console.log(JSON.stringify([...asked].sort()));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "null") as string[];
}

const others = [
  ...["index.ts", "runtime/index.ts", "testing/index.ts", "cli/program.ts"],
  ...["sqlite", "postgres", "file", "memory"].map((backend) => `backends/${backend}/index.ts`),
].map(source);

it("only threadmark/langgraph loads LangGraph's packages", async () => {
  const use = `
    const { open } = await import(${JSON.stringify(source("index.ts"))});
    const store = await open("memory:");
    await store.thread("t").put({ state: { n: 1 } });
    await store.close();
  `;
  expect(await importing(others, use)).toEqual([]);
  const peers = ["@langchain/core", "@langchain/langgraph-checkpoint"];
  expect(await importing([source("langgraph/index.ts")])).toEqual(expect.arrayContaining(peers));
});

it("import-langgraph says which packages to install where LangGraph's are missing", async () => {
  const use = `
    const { runCommandLine } = await import(${JSON.stringify(source("cli/program.ts"))});
    const err = [];
    const stderr = { write: (text) => err.push(text) };
    const code = await runCommandLine(["import-langgraph", "x.sqlite"], { ...process, stderr, env: {} });
    if (code !== 1 || !err.join("").includes("npm install @langchain/core @langchain/langgraph-checkpoint")) {
      throw new Error(code + err.join(""));
    }
  `;
  expect(await importing([], use, true)).not.toEqual([]);
});
