// Two processes write to one SQLite file through libSQL and are killed at any moment. Every put that they reported is
// there afterwards, and the store is sound. A writer gets "write", a folder and its name as arguments.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "threadmark";
import { libsqlDriver, sqlite } from "threadmark/sqlite";

// Not a literal: the project has it, the repository does not.
const packageName = "libsql";
const driver = libsqlDriver((await import(packageName)).default);
const openIn = async (folder) => open(await sqlite(join(folder, "store.db"), { driver }));

const [role, folder, name] = process.argv.slice(2);
if (role === "write") {
  const thread = (await openIn(folder)).thread(name);
  for (let turn = (await thread.latest())?.state.turn ?? 0; ; turn += 1) {
    await thread.put({ state: { turn: turn + 1 } });
    process.stdout.write(`${turn + 1}\n`);
  }
}

const place = mkdtempSync(join(tmpdir(), "threadmark-kills-"));
const reported = { a: 0, b: 0 };
for (let round = 0; round < 4; round += 1) {
  const writers = Object.keys(reported).map((writer) => {
    const child = spawn(process.execPath, [process.argv[1], "write", place, writer], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    child.stdout.on("data", (chunk) => {
      // The last line may be cut in half by the kill.
      const lines = chunk.toString().split("\n").slice(0, -1);
      reported[writer] = Math.max(reported[writer], ...lines.map(Number));
    });
    return child;
  });
  await new Promise((resolve) => setTimeout(resolve, 1_500 + Math.random() * 500));
  for (const child of writers) child.kill("SIGKILL");
  await Promise.all(writers.map((child) => once(child, "close")));
  const store = await openIn(place);
  for (const [writer, turn] of Object.entries(reported)) {
    const head = await store.thread(writer).latest();
    if (!(turn > 0 && head.state.turn >= turn))
      throw new Error(`${writer}: ${turn} was reported, ${head?.state.turn} is stored`);
  }
  const { ok, faults } = await store.verify();
  if (!ok) throw new Error(JSON.stringify(faults));
  await store.close();
}
rmSync(place, { recursive: true, force: true });
console.log(`two killed writers lost none of ${reported.a + reported.b} puts`);
process.exit(0);
