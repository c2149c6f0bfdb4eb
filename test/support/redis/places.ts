import { randomBytes } from "node:crypto";
import { afterAll } from "vitest";
import type { RedisOptions } from "../../../src/backends/redis/index.ts";
import { TestCluster } from "./cluster.ts";
import { startServer, type TestServer } from "./server.ts";

let server: Promise<TestServer> | undefined;
let cluster: Promise<TestCluster> | undefined;

/** The server of this test file, started when a test first needs it. */
export function fileServer(): Promise<TestServer> {
  server ??= startServer();
  return server;
}

/** The cluster of this test file, started when a test first needs it. */
function fileCluster(): Promise<TestCluster> {
  cluster ??= TestCluster.start();
  return cluster;
}

afterAll(async () => {
  await (await server)?.remove();
  await (await cluster)?.remove();
});

interface RedisPlace {
  readonly url: string;
  readonly options: RedisOptions;
  cleanup(): Promise<void>;
}

/** A prefix that no key has yet. Its keys end with the server. */
export async function makeRedis(options: RedisOptions = {}): Promise<RedisPlace> {
  const { url } = await fileServer();
  return { url, options: { ...options, prefix: newPrefix() }, cleanup: async () => {} };
}

export async function makeRedisCluster(options: RedisOptions = {}): Promise<RedisPlace> {
  const { url } = await fileCluster();
  return { url, options: { ...options, prefix: newPrefix() }, cleanup: async () => {} };
}

function newPrefix(): string {
  return `place-${randomBytes(6).toString("hex")}`;
}
