import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { schemasOf } from "../support/postgres/places.ts";
import { query } from "./support/coordinator.ts";
import { keepsAllUnderLoad } from "./support/load.ts";
import { makeDistributed, makeTables, shards } from "./support/places.ts";

const threads = 32;

/** Distributes a schema. Under load that may be cancelled as part of a deadlock, and is then done again. */
async function distribute(name: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await query("select citus_schema_distribute($1::text::regnamespace)", [name]);
      return;
    } catch (error) {
      if ((error as { code?: unknown }).code !== "40P01" || attempt === 20) throw error;
    }
  }
}

test("a store is distributed while it is written to, and nothing is lost", async () => {
  const place = await makeTables();
  const toll = await keepsAllUnderLoad(place, threads, async () => {
    await sleep(1000);
    for (const name of schemasOf(place.options.databaseSchema, shards).slice(0, -1)) {
      await distribute(name);
    }
    await sleep(1000);
  });
  console.log("distributed under load:", toll);
  expect(toll.unknown).toBe(0);
  expect(toll.acknowledged).toBeGreaterThan(0);
});

test("shards are moved between nodes while they are written to, and nothing is lost", async () => {
  const place = await makeDistributed();
  const nodes = await query("select nodename, nodeport from pg_dist_node where shouldhaveshards order by nodeport");
  expect(nodes.length).toBeGreaterThan(1);
  const toll = await keepsAllUnderLoad(place, threads, async () => {
    await sleep(1000);
    for (const node of nodes) {
      const schema = `${place.options.databaseSchema}_1`;
      const [found] = await query("select nodeport from citus_shards where table_name::text = $1", [`${schema}.meta`]);
      if (found?.nodeport === node.nodeport) continue;
      await query("select citus_schema_move($1::text::regnamespace, $2::text, $3::int4)", [
        schema,
        node.nodename,
        node.nodeport,
      ]);
    }
    await sleep(1000);
  });
  console.log("moved under load:", toll);
  expect(toll.unknown).toBe(0);
});

test("connections between coordinator and workers are cut under load, and nothing acknowledged is lost", async () => {
  const place = await makeDistributed();
  const cut =
    "select count(pg_terminate_backend(pid)) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'";
  const toll = await keepsAllUnderLoad(place, threads, async () => {
    for (let round = 0; round < 8; round++) {
      await sleep(500);
      await query("select run_command_on_workers($1)", [cut]);
    }
    await sleep(1000);
  });
  console.log("cut under load:", toll);
  expect(toll.acknowledged).toBeGreaterThan(0);
});
