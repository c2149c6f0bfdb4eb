import { randomBytes } from "node:crypto";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { postgres } from "../../../../src/backends/postgres/index.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import type { Bouncer } from "../../../support/postgres/pgbouncer.ts";
import { startBouncer } from "../../../support/postgres/pgbouncer.ts";
import { recordText } from "../../../support/texts.ts";
import { testContract } from "../../support/contract.ts";
import { creation, step, tailOf } from "../support/records.ts";

const database = await createDatabase();
const bouncer = await startBouncer(database.url).catch((error: unknown) => String(error));

afterAll(async () => {
  if (typeof bouncer !== "string") bouncer.stop();
  await database.drop();
});

describe.skipIf(typeof bouncer === "string")(
  `postgres through a transaction-pooling PgBouncer ${typeof bouncer === "string" ? `(${bouncer})` : ""}`,
  () => {
    const { url, version } = bouncer as Bouncer;

    testContract({ durable: true, processes: true }, () => {
      const schema = `case_${randomBytes(6).toString("hex")}`;
      onTestFinished(async () => {
        await database.query(`drop schema if exists ${schema} cascade`);
      });
      return () => postgres({ url, schema, connections: 8, prepare: false });
    });

    test(`${version}: more clients than server connections all get on`, async () => {
      const backends = await Promise.all([1, 2, 3].map(() => postgres({ url, schema: "many", prepare: false })));
      const commits = Array.from({ length: 60 }, (_, index) => backends[index % 3]?.commit([creation(index + 1)]));
      expect((await Promise.all(commits)).flat()).toEqual(commits.map(() => true));
      const steps = Array.from({ length: 60 }, (_, index) =>
        backends[index % 3]?.commit([step(index + 1, 1, recordText(1))]),
      );
      expect((await Promise.all(steps)).flat()).toEqual(steps.map(() => true));
      expect(await tailOf(backends[0] as (typeof backends)[0], 60)).toEqual([
        { item: 1, part: 0, value: recordText(1) },
      ]);
      await Promise.all(backends.map((backend) => backend.close()));
    });
  },
);
