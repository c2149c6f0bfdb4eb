import { execFile, spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { makeFolder, removeFolder } from "../temporary-folder.ts";
import { freePort } from "./server.ts";

export interface Bouncer {
  readonly url: string;
  readonly version: string;
  stop(): void;
}

const run = promisify(execFile);

/** Where Debian puts it; installed if this is a machine where that can be done. Else the reason why there is none. */
async function findBouncer(): Promise<string> {
  const places = [
    "/usr/sbin/pgbouncer",
    "/usr/bin/pgbouncer",
    "/usr/local/bin/pgbouncer",
    "/opt/homebrew/bin/pgbouncer",
  ];
  const found = places.find((place) => existsSync(place));
  if (found !== undefined) return found;
  if (process.getuid?.() !== 0) throw new Error("pgbouncer is not installed, and only root may install it");
  await run("apt-get", ["install", "-y", "pgbouncer"], { timeout: 50_000 });
  return "/usr/sbin/pgbouncer";
}

/** A PgBouncer in transaction mode before the database. Its own server connections are fewer than its clients. */
export async function startBouncer(target: string): Promise<Bouncer> {
  const program = await findBouncer();
  const { hostname, port, pathname, username, password } = new URL(target);
  const folder = makeFolder();
  const own = await freePort();
  const database = pathname.slice(1);
  writeFileSync(join(folder, "users.txt"), `"${username}" "${password}"\n`);
  writeFileSync(
    join(folder, "pgbouncer.ini"),
    [
      "[databases]",
      `${database} = host=${hostname} port=${port} dbname=${database} user=${username} password=${password}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${own}`,
      "unix_socket_dir =",
      "auth_type = plain",
      `auth_file = ${join(folder, "users.txt")}`,
      "pool_mode = transaction",
      "default_pool_size = 3",
      "",
    ].join("\n"),
  );
  // It refuses to run as root, and becomes another user itself.
  const user = process.getuid?.() === 0 ? ["--user", "nobody"] : [];
  const bouncer = spawn(program, [...user, "--quiet", join(folder, "pgbouncer.ini")], { stdio: "ignore" });
  await reachable(own);
  const { stdout } = await run(program, ["--version"]);
  const url = new URL(target);
  url.host = `127.0.0.1:${own}`;
  return {
    url: url.href,
    version: stdout.split("\n")[0] ?? "",
    stop() {
      bouncer.kill("SIGKILL");
      removeFolder(folder);
    },
  };
}

async function reachable(port: number): Promise<void> {
  for (let waited = 0; waited < 200; waited++) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.destroy();
        resolve(true);
      });
      socket.on("error", () => resolve(false));
    });
    if (open) return;
    await sleep(25);
  }
  throw new Error("pgbouncer did not start");
}
