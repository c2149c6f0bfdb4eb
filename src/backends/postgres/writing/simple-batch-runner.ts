import type { Table, Value } from "../../../backend.ts";
import { ServerFailure } from "../../shared/failure.ts";
import { isIncomplete, isTaken } from "../connection/failure.ts";
import type { QueryResult } from "../connection/pool.ts";
import type { RunStatement, Server, Statement } from "../connection/server.ts";
import { statement } from "../connection/server.ts";
import { isWide, type NamedSchema } from "../schema/layout.ts";
import { bigints, byteas, texts } from "./arrays.ts";
import type { SimpleBatch, SimpleRecord, StatementForm } from "./simple-batch.ts";
import { allText, oneText, pairText, someText } from "./simple-batch-sql.ts";

const textOf = { one: oneText, pair: pairText, all: allText, some: someText } as const;

/** Runs simple batches of one form in one attempt, and returns which were applied. */
export class SimpleBatchRunner {
  readonly #server: Server;
  readonly #named: NamedSchema;
  readonly #statements = new Map<string, Statement>();

  constructor(server: Server, named: NamedSchema) {
    this.#server = server;
    this.#named = named;
  }

  async run(batches: readonly SimpleBatch[]): Promise<readonly boolean[]> {
    const [first] = batches as readonly [SimpleBatch];
    if (batches.length === 1) return [await this.#runOne(first)];
    const values = arrays(batches);
    try {
      await this.#server.run(this.#statement("all", first.form), values);
      return batches.map(() => true);
    } catch (error) {
      if (!isTaken(error) && !isIncomplete(error)) throw error;
      if (first.form.beside !== undefined) return this.#runEach(batches);
      return appliedOf(batches, await this.#server.run(this.#statement("some", first.form), values));
    }
  }

  /**
   * Runs batches of one record each in a transaction, and returns which were applied. Fails where several are not all applied: the
   * transaction is then to be rolled back.
   */
  async runIn(run: RunStatement, batches: readonly SimpleBatch[]): Promise<readonly boolean[]> {
    const [first] = batches as readonly [SimpleBatch];
    if (batches.length === 1) return [(await run(this.#statement("one", first.form), scalars(first))).rowCount === 1];
    await run(this.#statement("all", first.form), arrays(batches));
    return batches.map(() => true);
  }

  async #runOne(batch: SimpleBatch): Promise<boolean> {
    try {
      const kind = batch.beside.length === 1 ? "pair" : "one";
      const { rowCount } = await this.#server.run(this.#statement(kind, batch.form), scalars(batch));
      return rowCount === 1;
    } catch (error) {
      if (isTaken(error)) return false;
      throw error;
    }
  }

  async #runEach(batches: readonly SimpleBatch[]): Promise<readonly boolean[]> {
    const applied: boolean[] = [];
    try {
      for (const batch of batches) applied.push(await this.#runOne(batch));
      return applied;
    } catch (error) {
      if (!(error instanceof ServerFailure) || !applied.includes(true)) throw error;
      throw new ServerFailure(error.cause, true, error.passing, error.state);
    }
  }

  #statement(kind: keyof typeof textOf, form: StatementForm): Statement {
    const name = `${kind}:${form.name}`;
    let found = this.#statements.get(name);
    if (found === undefined) {
      found = statement(textOf[kind](this.#named, form));
      this.#statements.set(name, found);
    }
    return found;
  }
}

function scalars({ form, check, insert, beside }: SimpleBatch): readonly unknown[] {
  const values: unknown[] = [];
  addKey(values, insert);
  if (check !== undefined) {
    if (!form.checksOwn) {
      values.push(check.key.group, check.key.item);
      if (isWide(check.key.table)) values.push(check.key.part);
    }
    values.push(check.value);
  }
  values.push(insert.value);
  const [other] = beside;
  if (other !== undefined && beside.length === 1) {
    addKey(values, other);
    values.push(other.value);
  } else if (form.beside !== undefined) addRecords(values, beside, form.beside.table);
  return values;
}

function addKey(values: unknown[], { key }: SimpleRecord): void {
  values.push(key.lineage, key.group, key.item);
  if (isWide(key.table)) values.push(key.part);
}

function arrays(batches: readonly SimpleBatch[]): readonly unknown[] {
  const [{ form }] = batches as readonly [SimpleBatch];
  const inserted = batches.map((batch) => batch.insert);
  const values: unknown[] = [lineages(inserted)];
  addItemKeys(values, inserted, form.insert.table);
  if (form.check !== undefined) {
    const checked = batches.map((batch) => batch.check as SimpleRecord);
    if (!form.checksOwn) addItemKeys(values, checked, form.check.table);
    values.push(array(checked));
  }
  values.push(array(inserted));
  if (form.beside !== undefined) {
    addRecords(
      values,
      batches.flatMap((batch) => batch.beside),
      form.beside.table,
    );
  }
  return values;
}

function addRecords(values: unknown[], records: readonly SimpleRecord[], table: Table): void {
  values.push(lineages(records));
  addItemKeys(values, records, table);
  values.push(array(records));
}

function lineages(records: readonly SimpleRecord[]): Buffer {
  return bigints(records.map(({ key }) => key.lineage));
}

/** Adds keys without their lineage. */
function addItemKeys(values: unknown[], records: readonly SimpleRecord[], table: Table): void {
  values.push(bigints(records.map(({ key }) => key.group)), bigints(records.map(({ key }) => key.item)));
  if (isWide(table)) values.push(bigints(records.map(({ key }) => key.part)));
}

function array(records: readonly SimpleRecord[]): Buffer {
  const values: readonly Value[] = records.map(({ value }) => value);
  return typeof values[0] === "string" ? texts(values as string[]) : byteas(values as Uint8Array[]);
}

/**
 * Returns which batches were applied. No two batches of one commit touch the same group, so the inserted groups
 * identify the batches.
 */
function appliedOf(batches: readonly SimpleBatch[], { rows }: QueryResult): readonly boolean[] {
  if (rows.length === batches.length) return batches.map(() => true);
  const groups = new Set((rows as readonly [string][]).map(([group]) => Number(group)));
  return batches.map(({ insert }) => groups.has(insert.key.group));
}
