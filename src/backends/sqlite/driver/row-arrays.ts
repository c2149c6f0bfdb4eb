import type { Bound, Statement } from "./contract.ts";

/** A statement whose rows are lists of values. */
export interface ListStatement {
  all(...values: Bound[]): readonly (readonly unknown[])[];
}

/** The ways in which drivers give rows as lists: `node:sqlite` from Node 22.16 on, `better-sqlite3` and `libsql`. */
interface Raw extends Statement {
  setReturnArrays?(enabled: boolean): void;
  raw?(enabled: boolean): unknown;
}

/** Makes a statement give its rows as lists of values, which drivers make faster than objects. */
export function withRowsAsLists(statement: Statement): ListStatement {
  const { setReturnArrays, raw } = statement as Raw;
  if (setReturnArrays !== undefined) setReturnArrays.call(statement, true);
  else if (raw !== undefined) raw.call(statement, true);
  else return { all: (...values) => statement.all(...values).map((row) => Object.values(row as object)) };
  return statement as unknown as ListStatement;
}
