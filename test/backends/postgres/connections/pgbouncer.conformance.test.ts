import { afterAll, describe } from "vitest";
import { postgresUnderTest } from "../../../support/places.ts";
import { startBouncer } from "../../../support/postgres/pgbouncer.ts";
import { fileDatabase, reusedPostgres } from "../../../support/postgres/places.ts";
import { holdsToTheKit } from "../../support/conformance.ts";

const bouncer = await startBouncer((await fileDatabase()).url).catch((error: unknown) => String(error));
const reason = typeof bouncer === "string" ? bouncer : "";

afterAll(() => {
  if (typeof bouncer !== "string") bouncer.stop();
});

describe.skipIf(reason !== "")(`a store on postgres behind a transaction-pooling PgBouncer ${reason}`, () => {
  const url = typeof bouncer === "string" ? "" : bouncer.url;
  holdsToTheKit({ ...postgresUnderTest, make: reusedPostgres({ url, prepare: false }) });
});
