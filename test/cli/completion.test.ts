import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, type TestContext, test } from "vitest";
import { folderOfTest } from "../support/folders-of-tests.ts";
import { lines, storeWith, threadmark, threeSteps } from "./run.ts";

async function offered(words: readonly string[], env: Record<string, string> = {}): Promise<string[]> {
  const { code, out, err } = await threadmark(["complete", "--", ...words], { env });
  expect([code, err]).toEqual([0, ""]);
  return lines(out).map((line) => line.slice(0, line.indexOf("\t")));
}

test("commands, options and choices are offered, but nothing for programs only", async () => {
  expect(await offered(["thr"])).toEqual(["threads"]);
  expect(await offered([""])).toContain("completion");
  expect(await offered([""])).not.toContain("complete");
  expect(await offered(["prune", "--dr"])).toEqual(["--dry-run"]);
  expect(await offered(["threads", "--status", "wa"])).toEqual(["waiting"]);
  expect(await offered(["threads", "-s", "wa"])).toEqual(["waiting"]);
  expect(await offered(["completion", ""])).toEqual(["bash", "zsh", "fish"]);
  expect(await offered(["nonsense", ""])).toEqual([]);
});

test("threads and checkpoints of the store that the line names are offered", async () => {
  const url = await storeWith(async (store) => {
    await threeSteps(store);
    await store.thread("user-7").put({ state: {}, workflow: "mail" });
    await store.thread("other\nthread").put({ state: {} });
    await store.thread("user-42", { namespace: ["a", "b"] }).put({ id: "inner", state: {} });
    await store.thread("user-42").put({ id: "final", state: {} });
  });
  expect(await offered(["show", "us"], { THREADMARK_URL: url })).toEqual(["user-42", "user-7"]);
  expect(await offered(["show", "--url", url, "us"])).toEqual(["user-42", "user-7"]);
  expect(await offered(["export", url, "user-42", "user-7"])).toEqual(["user-7"]);
  // An id that would break a line is left to be typed.
  expect(await offered(["show", "-u", url, "o"])).toEqual([]);
  expect(await offered(["show", "-u", url, "user-42", "f"])).toEqual(["final"]);
  expect(await offered(["diff", `--url=${url}`, "user-42", "@0", "f"])).toEqual(["final"]);
  expect(await offered(["fork", "user-42", "-u", url, "--at", "f"])).toEqual(["final"]);
  expect(await offered(["show", "user-42", "-u", url, "-n", "a", "-n", "b", ""])).toEqual(["inner"]);
  expect(await offered(["fork", "user-42", "-u", url, "--into", "us"])).toEqual([]);
});

test("where there is no store, nothing is offered, said or made", async () => {
  const file = join(folderOfTest(), "missing.db");
  expect(await offered(["show", "-u", `sqlite:${file}`, ""])).toEqual([]);
  expect(await offered(["show", "-u", "postgres://nobody@127.0.0.1:1/x", ""])).toEqual([]);
  expect(existsSync(file)).toBe(false);
});

test("there are scripts for bash, zsh and fish only", async () => {
  const { code, err } = await threadmark(["completion", "tcsh"]);
  expect([code, err]).toEqual([2, 'threadmark: There is no completion for "tcsh". Name bash, zsh or fish.\n']);
});

/** Types a line and presses Tab in a real shell that has sourced its script; gives the line, or the candidates. */
interface Shell {
  readonly name: string;
  readonly driver: string;
}

const shells: readonly Shell[] = [
  {
    name: "bash",
    driver: `source ./script
      COMP_LINE=$1 COMP_POINT=\${#1}
      _threadmark
      printf '%s\\n' "\${COMPREPLY[@]}"`,
  },
  {
    name: "zsh",
    // A shell on a pseudo-terminal; Control-X tells what is on its line after the Tab.
    driver: `zmodload zsh/zpty
      zpty inner zsh -f -i
      zpty -w inner 'autoload -U compinit; compinit -u -D; source ./script; tell() { print -r -- "$BUFFER" > told }'
      zpty -w inner 'zle -N tell; bindkey "^X" tell; echo rea""dy'
      zpty -r inner line '*ready*'
      zpty -w -n inner "$1"$'\\t\\x18'
      for turn in {1..600}; do [[ -s told ]] && break; sleep 0.1; done
      cat told`,
  },
  { name: "fish", driver: `source ./script; complete -C "$argv[1]" | string replace -r '\\t.*' ''` },
];

for (const { name, driver } of shells) {
  test(`${name} completes commands, options, threads and files`, async (context) => {
    needs(name, context);
    const url = await storeWith(async (store) => {
      await threeSteps(store);
      await store.thread("mail:to ann").put({ state: {} });
    });
    const directory = folderOfTest();
    const program = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
    const started = join(directory, "threadmark");
    writeFileSync(started, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
    chmodSync(started, 0o755);
    writeFileSync(join(directory, "script"), (await threadmark(["completion", name])).out);
    writeFileSync(join(directory, "driver"), driver);
    writeFileSync(join(directory, "users.bundle"), "");
    const complete = (line: string): string => {
      const env = { ...process.env, PATH: `${directory}${delimiter}${process.env["PATH"]}`, THREADMARK_URL: url };
      const options = { cwd: directory, env, encoding: "utf8" } as const;
      writeFileSync(join(directory, "told"), "");
      const { stdout, stderr } = spawnSync(name, [join(directory, "driver"), line], options);
      expect(stderr).toBe("");
      return stdout.trim();
    };
    const whole = (line: string, last: string): string => (name === "zsh" ? `${line} ${last}` : last);
    expect(complete("threadmark verif")).toBe(whole("threadmark", "verify"));
    expect(complete("threadmark prune --dr")).toBe(whole("threadmark prune", "--dry-run"));
    expect(complete("threadmark show us")).toBe(whole("threadmark show", "user-42"));
    // Bash itself goes on with files where its function offers nothing.
    if (name !== "bash") expect(complete("threadmark import us")).toBe(whole("threadmark import", "users.bundle"));
    // Each shell quotes in its own way; bash has cut the word at the colon.
    const quoted = { bash: "to\\ ann", zsh: "threadmark show mail:to\\ ann", fish: "mail:to ann" }[name];
    expect(complete("threadmark show mail:t")).toBe(quoted);
  }, 120_000);
}

function needs(shell: string, context: TestContext): void {
  if (spawnSync(shell, ["-c", ""]).error !== undefined)
    context.skip(`${shell} is not installed here: its completion cannot be tried.`);
}
