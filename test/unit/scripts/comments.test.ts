import { expect, test } from "vitest";
import { commentFaults } from "../../../scripts/comments.ts";

const linesOf = (text: string): number[] => commentFaults(text, true).faults.map(({ line }) => line);

test("a sentence that begins with a pronoun or a relative clause is a fault, wherever it stands in the comment", () => {
  for (const word of [
    "What",
    "Whatever",
    "Those",
    "Who",
    "Whoever",
    "Whose",
    "The same",
    "One",
    "So many",
    "Of which",
  ]) {
    expect(linesOf(`/** ${word} of them. */\nconst a = 1;`)).toEqual([1]);
    expect(linesOf(`const a = 1;\n// A row. ${word} of\n// them.`)).toEqual([2]);
    expect(linesOf(`/**\n * A row:\n * ${word} of them.\n */`)).toEqual([1]);
  }
});

test("the words in the middle of a sentence are no fault", () => {
  expect(linesOf("// The head is what a thread shows: of those, one is the same.\nconst a = 1;")).toEqual([]);
});

test("the comment of a function begins with a verb in the third person", () => {
  for (const code of [
    "export function head(): Row {",
    "export async function head(): Promise<Row> {",
    "const head = (thread: Thread): Row => thread.head;",
    "export const head: Handler = async (context, parts) => {",
    "  #head(thread: Thread): Row {",
    "  static async head<T>(thread: T): Promise<Row> {",
    "  get head(): Row {",
  ]) {
    expect(linesOf(`/** The head of a thread. */\n${code}`), code).toEqual([1]);
    expect(linesOf(`/** Returns the head of a thread. */\n${code}`), code).toEqual([]);
  }
});

test("a comment of something other than a function needs no verb", () => {
  for (const code of [
    "const rows = (a + b) * 2;",
    "export const rows: readonly Row[] = [",
    "interface Row {",
    "if (rows(thread)) {",
    "readonly rows: number;",
  ]) {
    expect(linesOf(`/** The rows of a tape. */\n${code}`), code).toEqual([]);
  }
});

test("a comment keeps its wording if the line before gives a reason", () => {
  expect(linesOf("// plain-english: a quotation\n\nconst a = 1;")).toEqual([]);
  expect(linesOf('const a = 1; // plain-english: a quotation\n/** What is "it"? */\nconst b = 1;')).toEqual([]);
});
