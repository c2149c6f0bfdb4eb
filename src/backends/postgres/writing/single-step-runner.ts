import type { Table, Value } from "../../../backend.ts";
import { Failure, isIncomplete, isTaken } from "../connection/failure.ts";
import type { QueryResult } from "../connection/pool.ts";
import type { Server, Statement } from "../connection/server.ts";
import { statement } from "../connection/server.ts";
import { isWide } from "../schema/layout.ts";
import { bigints, byteas, integers, texts } from "./arrays.ts";
import type { Shape, Step, StepRecord } from "./single-step.ts";
import { allText, oneText, pairText, someText } from "./single-step-text.ts";

const textOf = { one: oneText, pair: pairText, all: allText, some: someText } as const;

/** Runs steps of one shape, one attempt; tells which were applied. */
export class StepRunner {
  readonly #server: Server;
  readonly #schema: string;
  /** How the statements commit: see {@link commitAs}. */
  readonly #durable: string;
  readonly #statements = new Map<string, Statement>();

  constructor(server: Server, schema: string, durable: string) {
    this.#server = server;
    this.#schema = schema;
    this.#durable = durable;
  }

  async run(steps: readonly Step[]): Promise<readonly boolean[]> {
    const [first] = steps as readonly [Step];
    if (steps.length === 1) return [await this.#runOne(first)];
    const values = arrays(steps);
    try {
      await this.#server.run(this.#statement("all", first.shape), values);
      return steps.map(() => true);
    } catch (error) {
      if (!isTaken(error) && !isIncomplete(error)) throw error;
      if (first.shape.beside !== undefined) return this.#runEach(steps);
      return appliedOf(steps, await this.#server.run(this.#statement("some", first.shape), values));
    }
  }

  async #runOne(step: Step): Promise<boolean> {
    try {
      const kind = step.beside.length === 1 ? "pair" : "one";
      const { rowCount } = await this.#server.run(this.#statement(kind, step.shape), scalars(step));
      return rowCount === 1;
    } catch (error) {
      if (isTaken(error)) return false;
      throw error;
    }
  }

  async #runEach(steps: readonly Step[]): Promise<readonly boolean[]> {
    const applied: boolean[] = [];
    try {
      for (const step of steps) applied.push(await this.#runOne(step));
      return applied;
    } catch (error) {
      if (!(error instanceof Failure) || !applied.includes(true)) throw error;
      throw new Failure(error.cause, true, error.passing, error.state);
    }
  }

  #statement(kind: keyof typeof textOf, shape: Shape): Statement {
    const name = `${kind}:${shape.name}`;
    let found = this.#statements.get(name);
    if (found === undefined) {
      found = statement(textOf[kind](this.#schema, shape, this.#durable));
      this.#statements.set(name, found);
    }
    return found;
  }
}

function scalars({ shape, check, insert, beside }: Step): readonly unknown[] {
  const values: unknown[] = [];
  addKey(values, insert);
  if (check !== undefined) {
    if (!shape.checksOwn) {
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
  } else if (shape.beside !== undefined) addRecords(values, beside, shape.beside.table);
  return values;
}

function addKey(values: unknown[], { key }: StepRecord): void {
  values.push(key.lineage, key.group, key.item);
  if (isWide(key.table)) values.push(key.part);
}

function arrays(steps: readonly Step[]): readonly unknown[] {
  const [{ shape }] = steps as readonly [Step];
  const inserted = steps.map((step) => step.insert);
  const values: unknown[] = [lineages(inserted)];
  addPlaces(values, inserted, shape.insert.table);
  if (shape.check !== undefined) {
    const checked = steps.map((step) => step.check as StepRecord);
    if (!shape.checksOwn) addPlaces(values, checked, shape.check.table);
    values.push(array(checked));
  }
  values.push(array(inserted));
  if (shape.beside !== undefined) {
    addRecords(
      values,
      steps.flatMap((step) => step.beside),
      shape.beside.table,
    );
  }
  return values;
}

function addRecords(values: unknown[], records: readonly StepRecord[], table: Table): void {
  values.push(lineages(records));
  addPlaces(values, records, table);
  values.push(array(records));
}

function lineages(records: readonly StepRecord[]): Buffer {
  return integers(records.map(({ key }) => key.lineage));
}

/** Keys without their lineage. */
function addPlaces(values: unknown[], records: readonly StepRecord[], table: Table): void {
  values.push(integers(records.map(({ key }) => key.group)), bigints(records.map(({ key }) => key.item)));
  if (isWide(table)) values.push(bigints(records.map(({ key }) => key.part)));
}

function array(records: readonly StepRecord[]): Buffer {
  const values: readonly Value[] = records.map(({ value }) => value);
  return typeof values[0] === "string" ? texts(values as string[]) : byteas(values as Uint8Array[]);
}

/** No two batches of one commit touch the same group, so the groups inserted tell the batches. */
function appliedOf(steps: readonly Step[], { rows }: QueryResult): readonly boolean[] {
  if (rows.length === steps.length) return steps.map(() => true);
  const groups = new Set((rows as readonly [string][]).map(([group]) => Number(group)));
  return steps.map(({ insert }) => groups.has(insert.key.group));
}
