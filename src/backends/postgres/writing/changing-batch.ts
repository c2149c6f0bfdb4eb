import type { Batch, IndexEntry, LogLine, Value } from "../../../backend.ts";
import { isTaken } from "../connection/failure.ts";
import type { Server, Statement } from "../connection/server.ts";
import { statement } from "../connection/server.ts";
import type { Notices } from "../hearing/notices.ts";
import { isWide, type NamedSchema, nameOf } from "../schema/layout.ts";
import { isSimpleRecord, type SimpleRecord } from "./simple-batch.ts";

/**
 * A put that changes what its thread is found by: it replaces the one record that it checks, inserts one, changes entries of
 * that tape, and may add a line to the log.
 */
export interface ChangingBatch {
  readonly check: SimpleRecord;
  /** The new value of the checked record. */
  readonly value: Value;
  readonly insert: SimpleRecord;
  readonly remove: readonly IndexEntry[];
  readonly add: readonly IndexEntry[];
  readonly line: LogLine | undefined;
  readonly beside: readonly [];
  /** The batch that this was made from. */
  readonly original: Batch;
}

/** Lines after which the log is cut to its bounds. */
const linesBetweenCuts = 512;

/** Returns the batch as a changing batch, or undefined if it is not one. */
export function changingBatchOf(batch: Batch): ChangingBatch | undefined {
  const { checks, deletes, inserts, puts, entries, log } = batch;
  const [check, insert, put] = [checks?.[0], inserts?.[0], puts?.[0]];
  if (deletes?.length || checks?.length !== 1 || inserts?.length !== 1 || puts?.length !== 1) return undefined;
  if (
    !isSimpleRecord(check) ||
    !isSimpleRecord(insert) ||
    !isSimpleRecord(put) ||
    nameOf(check.key) !== nameOf(put.key)
  )
    return undefined;
  if (isWide(check.key.table) || isWide(insert.key.table) || nameOf(check.key) === nameOf(insert.key)) return undefined;
  if (typeof check.value !== typeof put.value || insert.key.table === "meta") return undefined;
  const { lineage, item: tape } = check.key;
  const { remove = [], add = [] } = entries ?? {};
  const isOwn = (entry: IndexEntry): boolean => entry.lineage === lineage && entry.tape === tape;
  if (insert.key.lineage !== lineage || !remove.every(isOwn) || !add.every(isOwn)) return undefined;
  // The two are applied in no order.
  if (add.some(({ text }) => remove.some((other) => other.text === text))) return undefined;
  if ((log?.lines.length ?? 0) > 1 || (log?.lineage ?? lineage) !== lineage) return undefined;
  return { check, value: put.value, insert, remove, add, line: log?.lines[0], beside: [], original: batch };
}

/** Runs a changing batch as one plain statement, in a third of the time that the function `apply` takes. */
export class ChangingBatchRunner {
  readonly #server: Server;
  readonly #named: NamedSchema;
  readonly #notices: Notices;
  readonly #statements = new Map<string, Statement>();
  readonly #cut: Statement;
  #lines = 0;

  constructor(server: Server, named: NamedSchema, notices: Notices) {
    this.#server = server;
    this.#named = named;
    this.#notices = notices;
    this.#cut = statement(`select ${named.schema}.cut_log()`);
  }

  /** Returns whether a batch may be run here: one whose line is to notify listeners is run by `apply`. */
  takes({ line }: ChangingBatch): boolean {
    return line === undefined || this.#notices.due() === undefined;
  }

  /** Runs the batch in one attempt, and returns whether it was applied. */
  async run(batch: ChangingBatch): Promise<boolean> {
    const { check, insert, value, remove, add, line } = batch;
    const { lineage, group, item } = check.key;
    const values: unknown[] = [lineage, group, item, insert.key.group, insert.key.item];
    values.push(check.value, value, insert.value);
    if (line !== undefined) values.push(line.at, line.text);
    for (const { text } of remove) values.push(text);
    for (const { text } of add) values.push(text);
    try {
      const { rowCount } = await this.#server.run(this.#statement(batch), values);
      if (rowCount === 1 && line !== undefined) await this.#cutLog();
      return rowCount === 1;
    } catch (error) {
      if (isTaken(error)) return false;
      throw error;
    }
  }

  async #cutLog(): Promise<void> {
    this.#lines += 1;
    if (this.#lines % linesBetweenCuts !== 0) return;
    // The batch is applied, whatever becomes of this.
    await this.#server.run(this.#cut, []).catch(() => undefined);
  }

  #statement({ check, insert, line, remove, add }: ChangingBatch): Statement {
    const [checked, inserted] = [columnOf(check), columnOf(insert)];
    const entries = { removed: remove.length, added: add.length };
    const name = `${check.key.table} ${checked} ${insert.key.table} ${inserted} ${line !== undefined} ${remove.length} ${add.length}`;
    let found = this.#statements.get(name);
    if (found === undefined) {
      const tables = { checked: check.key.table, inserted: insert.key.table };
      found = statement(textOf(this.#named, tables, checked, inserted, line !== undefined, entries));
      this.#statements.set(name, found);
    }
    return found;
  }
}

function columnOf({ value }: SimpleRecord): "text" | "bytes" {
  return typeof value === "string" ? "text" : "bytes";
}

const typeOf = { text: "text", bytes: "bytea" } as const;

/**
 * Returns the statement. It is applied exactly when its row was inserted: the update waits for a transaction that changes the
 * checked record, and then checks it again; everything else is done for the row that it returns. A taken key fails the whole.
 *
 * Each entry is a parameter of its own: for a list of unknown length the server expects more rows than there are, and plans the
 * statement anew at every call, which takes a quarter of its time.
 *
 * Invariant: entries of a tape change only together with its checked record, whose lock this statement holds.
 */
function textOf(
  { schema, durable }: NamedSchema,
  tables: { readonly checked: string; readonly inserted: string },
  checked: "text" | "bytes",
  inserted: "text" | "bytes",
  hasLine: boolean,
  { removed, added }: { readonly removed: number; readonly added: number },
): string {
  let next = hasLine ? 11 : 9;
  const parameters = (count: number): string[] => Array.from({ length: count }, () => `$${next++}::text`);
  const [removes, adds] = [parameters(removed), parameters(added)];
  const line = hasLine
    ? `, l as (insert into ${schema}.log (lineage, number, at, text) select $1::int8, 1, $9::int8, $10::text from m)`
    : "";
  const remove =
    removed === 0
      ? ""
      : `, r as (
      delete from ${schema}.entry e using m
      where e.text in (${removes.join(", ")}) and e.lineage = $1::int8 and e.tape = $3::int8
    )`;
  const add =
    added === 0
      ? ""
      : `, a as (
      insert into ${schema}.entry (text, lineage, tape)
      select n.text, $1::int8, $3::int8 from m, (values ${adds.map((text) => `(${text})`).join(", ")}) n (text)
      on conflict do nothing
    )`;
  return `with m as (
      update ${schema}.${tables.checked} set ${checked} = $7::${typeOf[checked]}
      where lineage = $1::int8 and "group" = $2::int8 and item = $3::int8 and ${checked} = $6::${typeOf[checked]}
      returning true
    )${remove}${add}${line}
    insert into ${schema}.${tables.inserted} (lineage, "group", item, ${inserted})
    select $1::int8, $4::int8, $5::int8, $8::${typeOf[inserted]} from m where ${durable}`;
}
