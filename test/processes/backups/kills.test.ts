import { expect, test } from "vitest";
import { fileUnderTest, postgresUnderTest, redisUnderTest, sqliteUnderTest } from "../../support/places.ts";
import { survivesBackupKills, survivesRestoreKills } from "./kills.ts";

/** Kills of each kind: each takes a process. `npm run test:long` has many more. */
const backends = [
  [sqliteUnderTest, 12],
  [fileUnderTest, 4],
  [postgresUnderTest, 4],
  [redisUnderTest, 4],
] as const;

for (const [backend, kills] of backends) {
  test(`backups that are killed leave no file that is read as one, and the chain goes on (${backend.name})`, {
    timeout: 240_000,
  }, async () => {
    expect((await survivesBackupKills(backend, kills)).kills).toBe(kills);
  });

  test(`restores that are killed leave whole threads in a store that says it is not whole, and are run again (${backend.name})`, {
    timeout: 240_000,
  }, async () => {
    expect((await survivesRestoreKills(backend, kills)).kills).toBe(kills);
  });
}
