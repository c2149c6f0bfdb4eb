import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { howMany } from "../long/campaign.ts";
import { coordinator, query } from "./support/coordinator.ts";
import { keepsAllUnderLoad } from "./support/load.ts";
import { makeDistributed } from "./support/places.ts";

/**
 * A command that kills a server of the cluster and starts it again, and ends when it is up. It is called with the host and the port of the
 * server. Nobody but the user who started the cluster knows how.
 */
const command = process.env.THREADMARK_TEST_CITUS_KILL;
const kills = howMany(2);
const threads = 32;

async function killAndRestart(host: string, port: number): Promise<void> {
  await promisify(execFile)("sh", ["-c", `${command} "$@"`, "sh", host, String(port)]);
  // Others can connect to it again.
  for (let attempt = 1; ; attempt += 1) {
    try {
      const found = await query("select result from run_command_on_workers('select 1') where not success");
      if (found.length === 0) return;
    } catch (error) {
      if (attempt === 60) throw error;
    }
    await sleep(500);
  }
}

async function workers(): Promise<readonly [host: string, port: number][]> {
  const found = await query("select node_name, node_port::int4 from citus_get_active_worker_nodes() order by 2");
  return found.map(({ node_name, node_port }) => [String(node_name), Number(node_port)]);
}

const because = "THREADMARK_TEST_CITUS_KILL names no command that kills a server and starts it again";

describe.skipIf(command === undefined)(`servers of Citus that are killed (skipped where ${because})`, () => {
  test(`a store loses nothing that it acknowledged when its workers are killed, ${kills} times each`, async () => {
    const place = await makeDistributed();
    const toll = await keepsAllUnderLoad(place, threads, async () => {
      for (let round = 0; round < kills; round += 1) {
        for (const [host, port] of await workers()) {
          await sleep(1000);
          await killAndRestart(host, port);
        }
      }
      await sleep(2000);
    });
    console.log("workers killed under load:", toll);
    expect(toll.acknowledged).toBeGreaterThan(threads);
  }, 3_600_000);

  test(`a store loses nothing that it acknowledged when the coordinator is killed, ${kills} times`, async () => {
    const place = await makeDistributed();
    const { hostname, port } = new URL(coordinator());
    const toll = await keepsAllUnderLoad(place, threads, async () => {
      for (let round = 0; round < kills; round += 1) {
        await sleep(1000);
        await killAndRestart(hostname, Number(port || 5432));
      }
      await sleep(2000);
    });
    console.log("coordinator killed under load:", toll);
    expect(toll.acknowledged).toBeGreaterThan(threads);
  }, 3_600_000);
});
