import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Runs one of the programs in children/ in a process of its own; it is given `input` and prints one line of JSON. */
export function runChild<T>(name: string, input: unknown): Promise<T> {
  const path = fileURLToPath(new URL(`../children/${name}`, import.meta.url));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [path, JSON.stringify(input)], { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(JSON.parse(text) as T);
      else reject(new Error(`${name} ended with ${code}`));
    });
  });
}
