import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freeClusterPort, TestServer } from "./server.ts";

const run = promisify(execFile);

/** Three masters with a replica each, on this machine. */
export class TestCluster {
  readonly servers: readonly TestServer[];

  private constructor(servers: readonly TestServer[]) {
    this.servers = servers;
  }

  /** Starts a cluster that takes a server to be gone after so many milliseconds: on a busy machine, none is gone for long. */
  static async start(timeout = 60_000, ...given: readonly string[]): Promise<TestCluster> {
    const settings = ["--cluster-enabled", "yes", "--cluster-node-timeout", String(timeout)];
    const quick = ["--repl-diskless-sync-delay", "0", "--cluster-replica-validity-factor", "0"];
    for (let attempt = 1; ; attempt += 1) {
      const servers: TestServer[] = [];
      try {
        // In turn, so that no server takes the port of another's bus.
        while (servers.length < 6) {
          servers.push(await new TestServer(await freeClusterPort(), [...settings, ...quick, ...given]).start());
        }
        const addresses = servers.map(({ port }) => `127.0.0.1:${port}`);
        await run("redis-cli", ["--cluster", "create", ...addresses, "--cluster-replicas", "1", "--cluster-yes"]);
        const cluster = new TestCluster(servers);
        await cluster.settled();
        return cluster;
      } catch (error) {
        // A port that was free may be taken by the time that the server begins.
        await Promise.all(servers.map((server) => server.remove()));
        if (attempt === 3) throw error;
      }
    }
  }

  get url(): string {
    return `redis://${this.servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}`;
  }

  /** Returns the servers that are masters now, and those that follow one with their link up. */
  async roles(): Promise<{ readonly masters: readonly TestServer[]; readonly replicas: readonly TestServer[] }> {
    const masters: TestServer[] = [];
    const replicas: TestServer[] = [];
    for (const server of this.servers) {
      const text = String(await server.command("INFO", "replication").catch(() => ""));
      if (text.includes("role:master")) masters.push(server);
      if (text.includes("master_link_status:up")) replicas.push(server);
    }
    return { masters, replicas };
  }

  /** Waits until every server sees a whole cluster, and every replica follows its master. */
  async settled(): Promise<void> {
    for (let tries = 0; tries < 600; tries++) {
      const states = await Promise.all(
        this.servers.map(async (server) => String(await server.command("CLUSTER", "INFO").catch(() => ""))),
      );
      const { replicas } = await this.roles();
      if (states.every((text) => text.includes("cluster_state:ok")) && replicas.length === 3) return;
      await sleep(50);
    }
    throw new Error("the cluster did not settle");
  }

  async remove(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.remove()));
  }
}
