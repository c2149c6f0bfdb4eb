import type { Table, Value } from "../../backend.ts";
import { bigints, byteas, integers, texts } from "./arrays.ts";
import { Failure, isIncomplete, isTaken } from "./failure.ts";
import { isWide } from "./layout.ts";
import type { QueryResult } from "./pool.ts";
import type { Server, Statement } from "./server.ts";
import { statement } from "./server.ts";
import type { Shape, Step, StepRecord } from "./step.ts";
import { allText, oneText, pairText, someText } from "./step-text.ts";

const textOf = { one: oneText, pair: pairText, all: allText, some: someText } as const;

/** Runs steps of one shape, one attempt; tells which were applied. */
export class StepRunner {
  readonly #server: Server;
  readonly #schema: string;
  readonly #statements = new Map<string, Statement>();

  constructor(server: Server, schema: string) {
    this.#server = server;
    this.#schema = schema;
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
      found = statement(textOf[kind](this.#schema, shape));
      this.#statements.set(name, found);
    }
    return found;
  }
}

function scalars({ shape, check, insert, beside }: Step): readonly unknown[] {
  const values: unknown[] = [];
  addInsert(values, insert);
  if (check !== undefined) {
    values.push(check.key.group, check.key.item);
    if (isWide(check.key.table)) values.push(check.key.part);
    values.push(check.value);
  }
  const [other] = beside;
  if (other !== undefined && beside.length === 1) addInsert(values, other);
  else if (shape.beside !== undefined) values.push(lineages(beside), ...columns(beside, shape.beside.table));
  return values;
}

function addInsert(values: unknown[], { key, value }: StepRecord): void {
  values.push(key.lineage, key.group, key.item);
  if (isWide(key.table)) values.push(key.part);
  values.push(value);
}

function arrays(steps: readonly Step[]): readonly unknown[] {
  const [{ shape }] = steps as readonly [Step];
  const inserted = steps.map((step) => step.insert);
  const values = [lineages(inserted), ...columns(inserted, shape.insert.table)];
  if (shape.check !== undefined) {
    const checked = steps.map((step) => step.check as StepRecord);
    values.push(...columns(checked, shape.check.table));
  }
  if (shape.beside !== undefined) {
    const beside = steps.flatMap((step) => step.beside);
    values.push(lineages(beside), ...columns(beside, shape.beside.table));
  }
  return values;
}

function lineages(records: readonly StepRecord[]): Buffer {
  return integers(records.map(({ key }) => key.lineage));
}

function columns(records: readonly StepRecord[], table: Table): readonly Buffer[] {
  const groups: number[] = [];
  const items: number[] = [];
  const values: Value[] = [];
  for (const { key, value } of records) {
    groups.push(key.group);
    items.push(key.item);
    values.push(value);
  }
  const parts = isWide(table) ? [bigints(records.map(({ key }) => key.part))] : [];
  return [integers(groups), bigints(items), ...parts, array(values)];
}

function array(values: readonly Value[]): Buffer {
  return typeof values[0] === "string" ? texts(values as string[]) : byteas(values as Uint8Array[]);
}

/** No two batches of one commit touch the same group, so the groups inserted tell the batches. */
function appliedOf(steps: readonly Step[], { rows }: QueryResult): readonly boolean[] {
  if (rows.length === steps.length) return steps.map(() => true);
  const groups = new Set((rows as readonly [string][]).map(([group]) => Number(group)));
  return steps.map(({ insert }) => groups.has(insert.key.group));
}
