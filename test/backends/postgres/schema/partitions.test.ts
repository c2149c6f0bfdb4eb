import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { postgres } from "../../../../src/backends/postgres/index.ts";
import type { TestDatabase } from "../../../support/postgres/database.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { testContract } from "../../support/contract.ts";

const names = [
  "meta",
  "tail",
  "mark",
  "rows",
  "net",
  "steps",
  "id",
  "head",
  "write",
  "value",
  "mail",
  "entry",
  "log",
  "directory",
];
let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

describe("postgres with 16 hash partitions keeps the contract", () => {
  testContract({ durable: true, processes: true }, () => {
    // 176 tables take longer to create and drop than a case takes, so the cases share them and leave them empty.
    onTestFinished(async () => {
      if ((await database.query("select to_regclass('threadmark.tail') as tail"))[0]?.tail === null) return;
      for (const name of [...names, "log_cut"]) await database.query(`delete from threadmark.${name}`);
    });
    return () => postgres({ url: database.url, connections: 4, partitions: 16 });
  });
});

test("every table is partitioned by its lineage, the directory by id", async () => {
  const rows = await database.query(
    `select relname, pg_get_partkeydef(oid) as key,
       (select count(*)::int from pg_inherits where inhparent = pg_class.oid) as partitions
     from pg_class where relkind = 'p' and relnamespace = 'threadmark'::regnamespace order by relname`,
  );
  const expected = [...names, "token"].sort().map((relname) => {
    return { relname, key: `HASH (${relname === "directory" ? "id" : "lineage"})`, partitions: 16 };
  });
  expect(rows).toEqual(expected);
});

test("values of every partition are stored out of line and uncompressed", async () => {
  const rows = await database.query(
    `select distinct attstorage from pg_attribute join pg_class on pg_class.oid = attrelid
     where relkind = 'r' and relnamespace = 'threadmark'::regnamespace and attname in ('text', 'bytes')
       and relname !~ '^(entry|log)'`,
  );
  expect(rows).toEqual([{ attstorage: "e" }]);
});
