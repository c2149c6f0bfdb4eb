import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PostgresServer } from "./server.ts";

/** Runs the server that all test files of one run share, until that run (a process) is over. */
const [run, folder] = process.argv.slice(2) as [string, string];

function tell(name: string, content: string): void {
  writeFileSync(join(folder, "new"), content);
  renameSync(join(folder, "new"), join(folder, name));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

try {
  // Tests kill servers, never the machine: what the operating system was given is safe.
  const server = await PostgresServer.start({ fsync: "off", max_connections: "300", max_prepared_transactions: "0" });
  tell("url", server.url());
  while (isRunning(Number(run))) await sleep(250);
  await server.stop();
} catch (error) {
  tell("failed", String(error));
  while (isRunning(Number(run))) await sleep(250);
}
rmSync(folder, { recursive: true, force: true });
process.exit();
