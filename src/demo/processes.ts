import { type ChildProcess, spawn } from "node:child_process";
import { extname } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The lines that a process of the demo printed, and how it ended. */
export interface EndedProcess {
  readonly lines: readonly string[];
  readonly signal: NodeJS.Signals | null;
}

/** Runs the agent in a process of its own. `hear` gets every line it prints, and may kill it. */
export async function runWorker(
  parameters: readonly string[],
  hear: (line: string, child: ChildProcess) => void = () => {},
): Promise<EndedProcess> {
  const program = fileURLToPath(new URL(`./worker${extname(import.meta.url)}`, import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, program, ...parameters], {
    stdio: ["ignore", "pipe", "pipe"],
    // Silences node:sqlite's warning, which would interrupt the story.
    env: { ...process.env, NODE_NO_WARNINGS: "1" },
  });
  const lines: string[] = [];
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const reading = createInterface({ input: child.stdout });
  reading.on("line", (line) => {
    lines.push(line);
    hear(line, child);
  });
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (...end) => resolve(end));
  });
  if (code !== 0 && signal === null) throw new Error(`The agent's process failed (exit code ${code}).\n${complaint}`);
  return { lines, signal };
}
