import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import { freePort, startServer, TestServer } from "../../support/redis/server.ts";
import { makeFolder, removeFolder } from "../../support/temporary-folder.ts";

test("a rediss: url speaks TLS, and a certificate that is not known is refused", async () => {
  const folder = makeFolder();
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2"];
  execFileSync("openssl", [...made, ...names], { stdio: "pipe" });
  const port = await freePort();
  const files = ["--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", certificate];
  const server = await startServer("--tls-port", String(port), "--tls-auth-clients", "no", ...files);
  try {
    const url = `rediss://127.0.0.1:${port}` as const;
    await using store = await open<{ n: number }>(url, { tls: { ca: readFileSync(certificate) } });
    await store.thread("t").put({ state: { n: 1 } });
    expect((await store.thread("t").latest())?.state).toEqual({ n: 1 });
    await expect(open(url)).rejects.toMatchObject({ code: "BACKEND", message: /certificate/ });
  } finally {
    await server.remove();
    removeFolder(folder);
  }
});

test("the master that sentinels name is used, and the one that takes its place", async () => {
  const folder = makeFolder();
  const master = await startServer();
  const replica = await startServer("--replicaof", "127.0.0.1", String(master.port), "--repl-diskless-sync-delay", "0");
  const configuration = join(folder, "sentinel.conf");
  writeFileSync(
    configuration,
    `sentinel monitor main 127.0.0.1 ${master.port} 1\nsentinel down-after-milliseconds main 60000\nsentinel failover-timeout main 60000\n`,
  );
  const sentinel = await TestServer.sentinel(await freePort(), configuration);
  try {
    const url = `redis://127.0.0.1:${sentinel.port}/?sentinel=main` as const;
    await using store = await open<{ n: number }>(url, { replicas: 1, patience: 50_000 });
    const thread = store.thread("t");
    await thread.put({ state: { n: 1 } });
    // A failover by hand needs a sentinel that knows the replica.
    for (let tries = 0; tries < 1_000; tries++) {
      if (String(await sentinel.command("SENTINEL", "REPLICAS", "main")).includes(String(replica.port))) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await sentinel.command("SENTINEL", "FAILOVER", "main");
    for (let n = 2; ; n++) {
      await thread.put({ state: { n } }).catch((error: { committed?: unknown }) => {
        if (error.committed !== "unknown") throw error;
      });
      // Both close the connections of their clients. Until the old master is told, it answers reads as before.
      const [now, before] = await Promise.all(
        [replica, master].map(async (server) => String(await server.command("INFO", "replication").catch(() => ""))),
      );
      if (now?.includes("role:master") && before?.includes("role:slave") && n > 10) break;
    }
    const { seq } = await (await open<{ n: number }>(replica.url)).thread("t").put({ state: { n: 0 } });
    expect((await thread.latest())?.seq).toBe(seq);
  } finally {
    for (const server of [sentinel, replica, master]) await server.remove();
    removeFolder(folder);
  }
}, 120_000);
