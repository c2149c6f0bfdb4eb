import type { Answer, Found, Listed, Read, Value } from "../../../backend.ts";
import { compareIds } from "../../shared/id-order.ts";
import { compareItemKeys } from "../../shared/ordered-records.ts";
import type { Statement } from "../connection/server.ts";
import { statement } from "../connection/server.ts";
import { subSelectsOf } from "./sub-selects.ts";

type Row = readonly [
  readNumber: string,
  item: string,
  part: string,
  id: string,
  text: string | null,
  bytes: Buffer | null,
];

/**
 * Builds one statement for any list of reads: a sub-select for each kind of read and table, joined by `union all`, so
 * that all are answered from one snapshot in one round trip. The text depends on the kinds, never on values, and is
 * kept.
 */
export class Reader {
  readonly #schema: string;
  readonly #statements = new Map<string, Statement>();

  constructor(schema: string) {
    this.#schema = schema;
  }

  statement(reads: readonly Read[]): { readonly statement: Statement; readonly values: readonly unknown[] } {
    const selects = subSelectsOf(reads);
    const form = selects.map((select) => select.form).join(" ");
    let found = this.#statements.get(form);
    if (found === undefined) {
      let count = 0;
      const parameter = (): string => `$${++count}`;
      const parts = selects.map((select) => select.sql(this.#schema, parameter));
      found = statement(
        parts.length === 1 ? (parts[0] as string) : parts.map((part) => `(${part})`).join(" union all "),
      );
      this.#statements.set(form, found);
    }
    return { statement: found, values: selects.flatMap((select) => select.values) };
  }
}

/** Converts rows to answers, in the order of the reads. */
export function answersOf(reads: readonly Read[], rows: readonly unknown[]): readonly Answer[] {
  const answers: Answer[] = reads.map((read) => ("get" in read ? undefined : []));
  for (const [readNumber, item, part, id, text, bytes] of rows as readonly Row[]) {
    const value = (text ?? bytes) as Value;
    const index = Number(readNumber);
    const answer = answers[index];
    if (!Array.isArray(answer)) answers[index] = value;
    else if (item === null) answer.push({ id, value } satisfies Listed);
    else answer.push({ item: Number(item), part: Number(part), value } satisfies Found);
  }
  for (const [index, read] of reads.entries()) if (!("get" in read)) sort(answers[index] as Found[] | Listed[], read);
  return answers;
}

/** Sorts an answer: SQL promises no order across `union all`, though the server keeps the order of each sub-select. */
function sort(answer: readonly (Found | Listed)[], read: Exclude<Read, { get: unknown }>): void {
  if ("list" in read) sortBy(answer as Listed[], compareListed);
  else sortBy(answer as Found[], read.reverse === true ? compareDown : compareItemKeys);
}

function sortBy<T>(answer: T[], compare: (a: T, b: T) => number): void {
  if (answer.some((entry, index) => index > 0 && compare(answer[index - 1] as T, entry) > 0)) answer.sort(compare);
}

const compareDown = (a: Found, b: Found): number => compareItemKeys(b, a);
const compareListed = (a: Listed, b: Listed): number => compareIds(a.id, b.id);
