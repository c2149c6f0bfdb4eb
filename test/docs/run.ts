import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Step } from "./steps.ts";

export const root: string = fileURLToPath(new URL("../../", import.meta.url));
const hook = pathToFileURL(join(root, "scripts/resolve-sources.ts")).href;

export interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

/**
 * A command that serves until Ctrl-C is shown in the docs without one: when it has printed its address, that address
 * must answer, and the interrupt that a person would press must end it.
 */
export function run(command: string[], cwd: string, env: NodeJS.ProcessEnv, serves = false): Promise<Outcome> {
  const [file = "", ...parameters] = command;
  // Its own process group: an interrupt from a terminal reaches every process of the script too.
  const child = spawn(file, parameters, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let output = "";
  let asked = false;
  let refused = false;
  const interrupt = (): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGINT");
  };
  const listen = (chunk: Buffer): void => {
    output += chunk.toString();
    const address = /https?:\/\/[\w.[\]:]+:\d+\S*/.exec(output)?.[0];
    if (!serves || asked || address === undefined) return;
    asked = true;
    void fetch(address)
      .then((response) => {
        if (!response.ok) throw new Error(`${address} answered ${response.status}`);
      })
      .catch((error: unknown) => {
        refused = true;
        output += `\n${String(error)}`;
      })
      .finally(interrupt);
  };
  child.stdout.on("data", listen);
  child.stderr.on("data", listen);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      const interrupted = serves && asked && (signal === "SIGINT" || code === 130 || code === 0);
      resolve({ code: interrupted && !refused ? 0 : (code ?? 1), output });
    });
  });
}

/** Runs a program file in a folder of its own, with `threadmark` resolved to the sources. */
export function runProgram(file: string, cwd: string, environment: NodeJS.ProcessEnv): Promise<Outcome> {
  return run(["node", "--import", hook, file], cwd, environment);
}

/** Runs a shell script with `threadmark` on the path, stopping at its first failing command. */
export function runScript(step: Step, cwd: string, environment: NodeJS.ProcessEnv): Promise<Outcome> {
  const path = `${commandFolder(cwd)}:${environment.PATH ?? ""}`;
  const command = ["bash", "-euo", "pipefail", "-c", step.code];
  const serves = /(?:^|\n)\s*threadmark (?:ui|tail|demo(?!.*--no-serve))\b[^\n]*$/.test(step.code.trim());
  return run(command, cwd, { ...environment, PATH: path }, serves);
}

function commandFolder(cwd: string): string {
  const folder = join(cwd, ".bin");
  mkdirSync(folder, { recursive: true });
  const main = join(root, "src/cli/main.ts");
  writeFileSync(join(folder, "threadmark"), `#!/bin/sh\nexec node "${main}" "$@"\n`, { mode: 0o755 });
  return folder;
}
